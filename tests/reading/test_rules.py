"""What `check` finds, rule by rule, and what it lets pass."""

import textwrap
from pathlib import Path

import pytest

from mrtr_tools.reading import RULES, Severity, check
from mrtr_tools.reading.sources import parse_source

HEAD = """
import asyncio, datetime, os, random, subprocess, time, uuid
from datetime import datetime as moment
import anyio, httpx
from fastmcp import Context, FastMCP
from mcp.server.elicitation import elicit_with_validation
from mrtr_tools import AskAgain, Elicit, ElicitUrl, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.porting import resumable
mcp = FastMCP("x")
toolbox = Toolbox("x")
"""


def codes(text: str, head: str = HEAD) -> list[str]:
    """The codes that are found, but for the two that only say who asks."""
    return [
        each.code
        for each in check([parse_source(head + textwrap.dedent(text), Path("x.py"))])
        if each.code not in ("MRTR001", "MRTR002")
    ]


def tool(*lines: str, signature: str = "ctx: Context") -> str:
    """An await-style tool with a body."""
    body = "\n".join(f"    {line}" for line in lines)
    return f"@mcp.tool\nasync def do({signature}) -> str:\n{body}\n"


ASK = 'answer = await ctx.elicit("Sure?", response_type=bool)'


def test_every_rule_has_a_test_here():
    files = [*Path(__file__).parent.glob("*.py"), Path(__file__).parents[1] / "cli" / "test_check.py"]
    text = "".join(file.read_text() for file in files)

    assert [code for code in RULES if code not in text] == []


# Who asks


def asking(text: str) -> list[tuple[str, int]]:
    found = check([parse_source(textwrap.dedent(text), Path("x.py"))])
    return [(each.code, each.line) for each in found]


def test_every_question_in_a_body_is_an_error_until_the_tool_is_resumable():
    body = """
        async def do(ctx: Context):
            await ctx.elicit("a", str)
            await ctx.elicit_url("b", "https://b", "c")
            await ctx.sample("c")
            await ctx.session.create_message(messages=[], max_tokens=1)
            await ctx.request_context.session.elicit(message="d", requestedSchema={})
            await ctx.list_roots()
    """

    lines = [("MRTR001", line) for line in range(3, 9)]
    assert asking("@mcp.tool()" + textwrap.dedent(body)) == lines
    assert {code for code, _ in asking("@toolbox.tool\n@resumable" + textwrap.dedent(body))} == {"MRTR002"}


def test_a_question_is_found_in_helpers_nested_functions_and_methods():
    found = asking("""
        class Desk:
            async def confirm(self, context: Context):
                return await context.elicit("a", str)

            async def both(self, context: Context):
                return await self.confirm(context)

        @mcp.tool
        async def outer(ctx: Context):
            async def inner():
                return await ctx.elicit("b", str)
            return await inner()
    """)

    assert found == [("MRTR001", 4), ("MRTR001", 7), ("MRTR001", 12), ("MRTR001", 13)]


def test_a_helper_of_resumable_tools_alone_is_resumable_too():
    helper = "async def ask(ctx):\n    return await ctx.elicit('a', str)\n\n"
    ours = "@toolbox.tool\n@resumable\nasync def one(ctx):\n    return await ask(ctx)\n\n"
    theirs = "@mcp.tool\nasync def two(ctx: Context):\n    return await ask(ctx)\n"

    assert asking(helper + ours) == [("MRTR002", 2), ("MRTR002", 7)]
    assert asking(helper + ours + theirs) == [("MRTR001", 2), ("MRTR002", 7), ("MRTR001", 11)]


def test_what_only_looks_like_a_question_is_none():
    text = """
        import random
        async def do(client, items):
            random.sample(items, 2)
            client.messages.create()
            items.sample(3)
    """

    assert asking(text) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("await ctx.elicit('a', str)", "MRTR209"),
        ("async def lifespan(server):\n    await server.get_context().elicit('a', str)\n    yield", "MRTR209"),
        (
            (
                "async def ask(ctx: Context):\n"
                "    await ctx.elicit('a', str)\n"
                "@mcp.tool\n"
                "async def do(ctx: Context, tasks):\n"
                "    tasks.add_task(ask, ctx)"
            ),
            "MRTR209",
        ),
        (
            (
                "class M(Middleware):\n"
                "    async def on_call_tool(self, context, call_next):\n"
                "        await context.fastmcp_context.elicit('a', bool)"
            ),
            "MRTR210",
        ),
        (
            (
                "@server.call_tool()\n"
                "async def handle(name, arguments):\n"
                "    await server.request_context.session.elicit('a', {})"
            ),
            "MRTR210",
        ),
        (
            (
                "async def ask(ctx):\n"
                "    return await ctx.elicit('a', str)\n"
                "@mcp.tool\n"
                "def do(ctx: Context):\n"
                "    return anyio.from_thread.run(ask, ctx)"
            ),
            "MRTR208",
        ),
        ("@mcp.tool\ndef do(ctx: Context):\n    return asyncio.run(ctx.elicit('a', str))", "MRTR208"),
        ("@mcp.tool\ndef do(ctx: Context):\n    return anyio.from_thread.run(ctx.elicit, 'a', str)", "MRTR208"),
        (
            "from elsewhere import confirm\n@mcp.tool\nasync def do(ctx: Context):\n    return await confirm(ctx, 'a')",
            "MRTR216",
        ),
        ("@mcp.tool\nasync def do(ctx: Context):\n    return await ctx.sample('a', tools=[print])", "MRTR217"),
        ("@toolbox.tool\n@resumable\nasync def do(ctx: Context):\n    return await ctx.get_state('a')", "MRTR218"),
        ("@toolbox.tool\n@resumable\nasync def do(ctx: Context):\n    return await ctx.session.send_ping()", "MRTR218"),
    ],
)
def test_a_question_that_nobody_can_answer_there_is_reported(text, code):
    assert code in codes(text)


# What runs again


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("os.remove('a')", "MRTR101"),
        ("subprocess.run(['a'])", "MRTR101"),
        ("open('a', 'w').write('b')", "MRTR101"),
        ("await httpx.AsyncClient().post('a')", "MRTR101"),
        ("await db.execute('INSERT INTO a VALUES (1)')", "MRTR101"),
        ("session.commit()", "MRTR101"),
        ("await gateway.create_checkout(1)", "MRTR102"),
        ("send_mail('a')", "MRTR102"),
        ("rows = await db.fetch('a')", "MRTR103"),
        ("text = open('a').read()", "MRTR103"),
        ("page = httpx.get('a')", "MRTR103"),
        ("rows = await db.execute('SELECT 1')", "MRTR103"),
        ("now = time.time()", "MRTR104"),
        ("now = moment.now()", "MRTR104"),
        ("now = datetime.datetime.utcnow()", "MRTR104"),
        ("key = uuid.uuid4()", "MRTR105"),
        ("key = random.randint(1, 2)", "MRTR105"),
    ],
)
def test_what_should_run_once_is_reported_before_a_question_and_not_after_it(line, code):
    assert codes(tool(line, ASK, "return 'a'")) == [code]
    assert codes(tool(ASK, line, "return 'a'")) == []
    assert codes(tool(f"if not await ctx.elicit('a', bool): {line}", "return 'a'")) == []


@pytest.mark.parametrize(
    "line",
    [
        "print('a')",
        "logger.info('a')",
        "await ctx.info('a')",
        "await asyncio.sleep(1)",
        "names = sorted(known)",
        "known.add('a')",
        "known.update(a=1)",
        "found = model.create('a') if model else None",
        "rows = await ctx.once(load, 1)",
        "rows = await ctx.once(functools.partial(httpx.post, 'a'))",
        "check = lambda: os.remove('a')",
    ],
)
def test_what_may_run_twice_passes(line):
    assert codes(tool(line, ASK, "return 'a'")) == []


def test_what_a_function_of_the_file_does_counts_where_it_is_called():
    helper = (
        "def save(text):\n"
        "    keep(text)\n"
        "\n"
        "def keep(text):\n"
        "    open('a', 'w').write(text)\n"
        "\n"
        "def pure(text):\n"
        "    return text * 2\n"
        "\n"
    )
    found = check([parse_source(HEAD + helper + tool("pure('a')", "save('a')", ASK, "return 'a'"), Path("x.py"))])

    [effect] = [each for each in found if each.code == "MRTR101"]
    assert effect.reason == (
        "save(...), through open(...) in line 15 of keep, acts again in each round, until line 24 is answered"
    )


def test_a_branch_that_ends_before_the_question_runs_nothing_again():
    assert codes(tool("if done:", "    os.remove('a')", "    return 'a'", ASK, "return 'b'")) == []
    assert codes(tool("if done:", "    os.remove('a')", ASK, "return 'b'")) == ["MRTR101"]


def test_in_a_loop_what_stands_behind_a_question_comes_before_the_next_one():
    assert codes(tool("for item in items:", f"    {ASK}", "    os.remove(item)", "return 'a'")) == ["MRTR101"]
    assert codes(tool("for item in items:", f"    {ASK}", "    os.remove(item)", "    break", "return 'a'")) == []
    assert (
        codes(tool("while True:", f"    {ASK}", "    if answer.data:", "        os.remove('a')", "        return 'a'"))
        == []
    )


def test_what_stands_behind_the_question_of_a_helper_runs_again_when_its_caller_asks_more():
    helper = "async def ask(ctx):\n    answer = await ctx.elicit('a', str)\n    os.remove('a')\n    return answer\n\n"

    assert codes(helper + tool("await ask(ctx)", "return 'a'")) == []
    assert codes(helper + tool("await ask(ctx)", ASK, "return 'a'")) == ["MRTR101"]


def test_what_is_in_try_comes_before_a_question_in_its_handler():
    assert codes(tool("try:", "    await db.fetch()", "except KeyError:", f"    {ASK}", "return 'a'")) == [
        "MRTR103",
        "MRTR204",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("key = uuid.uuid4()", "await ctx.elicit(f'Use {key}?', bool)"),
        ("await ctx.elicit(f'Use {uuid.uuid4()}?', bool)",),
        ("await ctx.elicit(message='At {}'.format(time.time()), response_type=bool)",),
        ("rooms = await free_rooms()", "await ctx.elicit('Which?', response_type=rooms)"),
    ],
)
def test_a_question_that_differs_from_round_to_round_is_an_error(lines):
    assert "MRTR106" in codes(tool(*lines, "return 'a'"))
    assert RULES["MRTR106"].severity is Severity.ERROR


# What a question stands in


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["try:", f"    {ASK}", "except Exception:", "    pass"], ["MRTR201"]),
        (["try:", f"    {ASK}", "except (ValueError, Exception):", "    return 'no'"], ["MRTR201"]),
        (["try:", f"    {ASK}", "except ValueError:", "    pass"], []),
        (["try:", "    pass", "except Exception:", "    pass", ASK], []),
        (["try:", f"    {ASK}", "except:", "    pass"], ["MRTR202"]),
        (["try:", f"    {ASK}", "except BaseException:", "    return 'no'"], ["MRTR202"]),
        (["try:", f"    {ASK}", "except BaseException:", "    raise"], []),
        (["try:", f"    {ASK}", "finally:", "    return 'no'"], ["MRTR202"]),
        (["with suppress(Exception):", f"    {ASK}"], ["MRTR201"]),
        (["try:", "    pass", "finally:", f"    {ASK}"], ["MRTR203"]),
        (["try:", "    pass", "except ValueError:", f"    {ASK}"], ["MRTR204"]),
        (["async with lock:", f"    {ASK}"], ["MRTR205"]),
        (["async with lock:", "    pass", ASK], []),
        (["async with asyncio.timeout(3):", f"    {ASK}"], ["MRTR206"]),
        (["with anyio.move_on_after(3):", f"    {ASK}"], ["MRTR206"]),
        (["await asyncio.wait_for(ctx.elicit('a', str), 3)"], ["MRTR206"]),
        (["await asyncio.gather(ctx.elicit('a', str), ctx.elicit('b', str))"], ["MRTR207"]),
        (["task = asyncio.create_task(ctx.elicit('a', str))"], ["MRTR207"]),
        (["await ctx.gather(ctx.elicit('a', str), ctx.elicit('b', str))"], []),
        (
            ["try:", f"    {ASK}", "except McpError as e:", "    if 'not supported' in str(e):", "        return 'no'"],
            ["MRTR211"],
        ),
        (["try:", f"    {ASK}", "except McpError as e:", "    if 'disk' in str(e):", "        return 'no'"], []),
    ],
)
def test_what_is_around_a_question(lines, expected):
    assert codes(tool(*lines, "return 'a'")) == expected


# What outlives a round


def test_a_live_object_on_both_sides_of_a_question_is_reported():
    assert codes(tool("client = ShopClient('a')", ASK, "client.name()", "return 'a'")) == ["MRTR212"]
    assert codes(tool("client = ShopClient('a')", "client.name()", ASK, "return 'a'")) == []
    assert codes(tool(ASK, "client = ShopClient('a')", "client.name()", "return 'a'")) == []


def test_a_global_as_memory_is_reported_and_a_local_one_is_not():
    assert codes("seen = {}\n" + tool("seen['a'] = 1", ASK, "return 'a'")) == ["MRTR213"]
    assert codes("seen = []\n" + tool("if seen: return 'b'", ASK, "seen.append(1)", "return 'a'")) == ["MRTR213"]
    assert codes("count = 0\n" + tool("global count", ASK, "count += 1", "return 'a'")) == ["MRTR213"]
    assert codes("seen = []\n" + tool(ASK, "seen.append(1)", "return 'a'")) == []
    assert codes(tool(ASK, "seen = {}", "seen['a'] = 1", "return 'a'")) == []


def test_a_decorator_that_hides_the_parameters_is_reported():
    hiding = (
        "def login(fn):\n    async def inner(request):\n        return await fn(request['a'])\n    return inner\n\n"
    )
    showing = hiding.replace("    async def", "    @functools.wraps(fn)\n    async def")
    decorated = tool(ASK, "return 'a'").replace("@mcp.tool\n", "@mcp.tool\n@login\n")

    assert codes(hiding + decorated) == ["MRTR214"]
    assert codes(showing + decorated) == []


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("class Form(BaseModel):\n    user: str\n    password: str\n", "await ctx.elicit('Log in', Form)"),
        ("class Form(BaseModel):\n    apiKey: str\n", "await ctx.elicit(message='Log in', schema=Form)"),
        ("", "await ctx.elicit('Your API key, please', response_type=str)"),
        ("class Form(BaseModel):\n    code: SecretStr\n", "await ctx.elicit('Log in', Form)"),
        ("", "await ctx.session.elicit('a', {'properties': {'access_token': {'type': 'string'}}})"),
        ("Form = create_model('Form', secret=(str, ...))\n", "await ctx.elicit('a', Form)"),
    ],
)
def test_a_secret_in_a_form_is_reported(before, line):
    assert codes(before + tool(line, "return 'a'")) == ["MRTR215"]


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("class Form(BaseModel):\n    max_tokens: int\n    tokens: int\n", "await ctx.elicit('a', Form)"),
        ("", "await ctx.elicit('Delete the password file?', response_type=bool)"),
        ("", "await ctx.elicit_url('Enter your API key there', 'https://a', 'b')"),
    ],
)
def test_what_is_no_secret_passes(before, line):
    assert codes(before + tool(line, "return 'a'")) == []


# Our own steps


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@needs_input(name='Name?')\ndef greet(name: str):\n    return 'a'", ["MRTR301"]),
        ("@needs_input(name='Name?')\ndef greet(name: str):\n    return name", []),
        ("@needs_input(day='Day?')\n@needs_input(ok=confirm('On {day}?'))\ndef book(day: str):\n    return 'a'", []),
        (
            (
                "@needs_input(day='Day?')\n"
                "@needs_input(hour='Hour?', only_if=lambda day: day)\n"
                "def book(day: str, hour: str = ''):\n"
                "    return hour"
            ),
            [],
        ),
        ("@needs_input(ok=confirm('Sure?'))\ndef greet():\n    return 'a'", []),
        ("@needs_input(ok='Sure?')\ndef greet(ok: bool):\n    return 'a' if ok else 'b'", ["MRTR302"]),
        ("@needs_input(x=Elicit('Are you sure?'))\ndef greet(x: bool):\n    return x", ["MRTR302"]),
        ("@needs_input(vegan='Vegan food?')\ndef order(vegan: bool):\n    return vegan", []),
        ("@needs_input(password='Password?')\ndef log_in(password: str):\n    return password", ["MRTR215"]),
        ("@needs_input(ok=confirm('Sure?'))\ndef delete_all():\n    return 'a'", ["MRTR303"]),
        ("@needs_input(ok=confirm('Sure?'))\ndef pay(ctx):\n    return charge(key=ctx.idempotency_key)", []),
    ],
)
def test_what_a_step_asks_in_vain_or_wrongly(text, expected):
    assert codes(f"@toolbox.tool\n{text}") == expected


def test_a_destructive_tool_says_that_it_runs_once():
    gated = "@needs_input(ok=confirm('Sure?'))\ndef tidy():\n    return 'a'"

    assert codes("@toolbox.tool(annotations={'destructiveHint': True})\n" + gated) == ["MRTR303"]
    assert codes("@toolbox.tool(annotations={'destructiveHint': True}, single_use=True)\n" + gated) == []
    assert codes("@toolbox.tool\n" + gated.replace("tidy", "drop_table")) == ["MRTR303"]
    assert codes("@toolbox.tool(annotations={'readOnlyHint': True})\n" + gated.replace("tidy", "drop_table")) == []
    assert codes("@toolbox.tool\n" + gated.replace("tidy", "drop_table").replace("'a'", "then(a)")) == []


def test_live_data_that_is_shown_and_read_again_is_reported():
    text = """
        async def quote(item: str) -> str:
            return f"{await price_of(item)}"

        @toolbox.tool
        @needs_input(price=quote)
        @needs_input(ok=confirm("Buy for {price}?"))
        async def order(item: str, price: str) -> str:
            return await place(item, PRICE)
    """

    assert codes(text) == []
    assert codes(text.replace("PRICE", "await price_of(item)")) == ["MRTR304"]
    assert (
        codes(
            text.replace("PRICE", "await price_of(item)").replace("return await place", "raise AskAgain; await place")
        )
        == []
    )


@pytest.mark.parametrize(
    ("field", "is_found"),
    [
        ("tags: list[str]", True),
        ("tags: list", True),
        ("tags: Optional[List[str]] = None", True),
        ("tags: Annotated[list[str], Field(min_length=1)]", True),
        ("about: dict[str, str] | None = None", True),
        ("where: Place", True),
        ("tags: list[Literal['a', 'b']]", False),
        ("tags: list[Tag]", False),
        ("tags: list[str] = Field(json_schema_extra={'items': {'enum': ['a']}})", False),
        ("tag: str | None = None", False),
        ("tag: Literal['a'] = 'a'", False),
        ("tag: Tag", False),
    ],
)
def test_a_field_that_no_form_shows_is_found_where_it_is_asked_for(field: str, is_found: bool) -> None:
    before = f"""
class Tag(str, Enum):
    A = "a"
class Place(BaseModel):
    city: str
class Wanted(BaseModel):
    {field}
"""
    line = 'answer = await ctx.elicit("Which?", schema=Wanted)'
    assert codes(before + tool(line, "return 'a'")) == (["MRTR219"] if is_found else [])


def test_a_sync_function_may_hand_a_question_back_to_who_awaits_it() -> None:
    helper = "def ask(ctx: Context):\n    return ctx.elicit('Sure?', response_type=bool)\n"
    assert codes(helper + tool("answer = await ask(ctx)", "return answer.action")) == []
    assert codes(helper.replace("return ", "return [").replace("bool)", "bool)]") + tool("ask(ctx)", "return ''")) == [
        "MRTR208"
    ]


def test_a_method_of_ones_own_that_is_named_like_a_question_asks_nothing_by_itself() -> None:
    text = "class Session:\n    def elicit_form(self, text):\n        return text\n"
    assert codes(text + "    def elicit(self, text):\n        print(self.elicit_form(text))\n") == []


def test_what_is_none_in_a_resumable_function_is_found_unless_it_is_looked_at() -> None:
    head = "@toolbox.tool\n@resumable\nasync def do(ctx: Context):\n"
    line = "    return ctx.request_context.request.headers\n"
    assert codes(head + line) == ["MRTR218"]
    assert codes(head + "    if ctx.request_context.request is not None:\n    " + line) == []
