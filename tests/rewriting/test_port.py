"""What `port` writes, edit by edit."""

import textwrap
from pathlib import Path

import pytest

from mrtr_tools.reading.sources import parse_source
from mrtr_tools.rewriting import Verdict, port

TOOL = """
{decorator}
async def do({parameters}) -> str:
    answer = await ctx.elicit("Sure?", response_type=bool)
    return answer.action
"""


def ported(text: str, *, steps: bool = False) -> str:
    return port(parse_source(textwrap.dedent(text).lstrip("\n"), Path("shop.py")), steps=steps).text


def tool(decorator: str = "@mcp.tool", parameters: str = "ctx: Context") -> str:
    return TOOL.format(decorator=decorator, parameters=parameters)


def server(*lines: str, made: str = 'mcp = FastMCP("shop")') -> str:
    return "\n".join(["from fastmcp import Context, FastMCP", made, tool(), *lines]).rstrip() + "\n"


def refusals(text: str) -> list[str]:
    [outcome] = port(parse_source(text, Path("shop.py"))).outcomes
    assert outcome.verdict is Verdict.REFUSED
    return [str(reason) for reason in outcome.reasons]


# Decorators


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@mcp.tool", "@toolbox.tool"),
        ("@mcp.tool()", "@toolbox.tool"),
        ('@mcp.tool("x")', '@toolbox.tool(name="x")'),
        ('@mcp.tool(name="x", title="X")  # why', '@toolbox.tool(name="x", title="X")  # why'),
        ('@mcp.tool(description="y", tags={"a"})', '@toolbox.tool(description="y")'),
        ('@mcp.tool(tags={"a"}, meta={})', "@toolbox.tool"),
        ('@mcp.tool(\n    name="x",\n    tags={"a"},\n)', '@toolbox.tool(\n    name="x",\n)'),
        ('@mcp.tool(annotations={"readOnlyHint": True})', '@toolbox.tool(annotations={"readOnlyHint": True})'),
        (
            "@mcp.tool(annotations=ToolAnnotations(destructive_hint=True, title='a b'))",
            '@toolbox.tool(annotations={"destructiveHint": True, "title": \'a b\'})',
        ),
        (
            "HINTS = ToolAnnotations(readOnlyHint=True)\n\n\n@mcp.tool(annotations=HINTS)",
            "@toolbox.tool(annotations=HINTS.model_dump(by_alias=True, exclude_none=True))",
        ),
    ],
)
def test_a_decorator_becomes_that_of_a_toolbox(before, after):
    assert f"\n{after}\n@resumable\nasync def do" in ported(tool(before))


@pytest.mark.parametrize(
    ("decorator", "reason"),
    [
        ("@mcp.tool(auth=check)", "auth="),
        ("@mcp.tool(task=True)", "task="),
        ("@mcp.tool(enabled=False)", "enabled="),
        ("@mcp.tool(annotations=HINTS)", "annotations=HINTS comes from elsewhere"),
        ("@mcp.tool(**options)", "not written out"),
        ("@mcp.tool(unheard=1)", "unheard="),
        ("@mcp.prompt", "only tools"),
        ("@self.mcp.tool", "self.mcp"),
    ],
)
def test_a_decorator_that_a_toolbox_cannot_have_is_refused(decorator, reason):
    assert reason in refusals(tool(decorator))[0]


def test_what_is_left_out_is_noted():
    assert "# mrtr: decide: tags={'a'} was left out: a toolbox has no tags\n@toolbox.tool" in ported(
        tool('@mcp.tool(tags={"a"})')
    )


# Parameters and the context


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ctx: Context, note: str = None", "ctx: Context, note: str | None = None"),
        ("ctx: Context, note: Optional[str] = None", "ctx: Context, note: Optional[str] = None"),
        (
            "note: Annotated[str, 'x'] = None, ctx: Context = None",
            "note: Annotated[str, 'x'] | None = None, ctx: Context = None",
        ),
        (
            "ctx: Context, *, note: list = None, many: int = 3",
            "ctx: Context, *, note: list | None = None, many: int = 3",
        ),
    ],
)
def test_a_default_of_none_is_admitted(before, after):
    assert f"async def do({after}) -> str:" in ported(tool(parameters=before))


def test_the_context_is_that_of_the_bridge_where_nothing_else_has_it():
    alone = ported(server())
    shared = ported(server("@mcp.tool\nasync def plain(ctx: Context) -> str:\n    return 'a'"))

    assert "from fastmcp import FastMCP\n" in alone
    assert "from mrtr_tools.porting import Context, resumable\n" in alone
    assert "from fastmcp import Context, FastMCP\n" in shared
    assert "from mrtr_tools.porting import resumable\n" in shared


def test_a_file_that_imports_nothing_but_the_context_loses_that_line():
    text = "from app import mcp\nfrom fastmcp import Context\n" + tool()

    assert "fastmcp" not in ported(text)


# Imports and the server


def test_a_file_with_names_of_ours_that_mean_something_else_is_refused():
    assert refusals("def attach(): ...\n" + tool()) == ["attach is the name of something else in this file"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from mcp.server.fastmcp import FastMCP, Image",
            "from mcp.server.mcpserver import MCPServer as FastMCP, Image",
        ),
        ("from mcp.server.fastmcp import FastMCP as F", "from mcp.server.mcpserver import MCPServer as F"),
        (
            "from mcp.server.fastmcp.exceptions import ToolError",
            "from mcp.server.mcpserver.exceptions import ToolError",
        ),
        ("from mcp.shared.exceptions import McpError", "from mcp.shared.exceptions import MCPError as McpError"),
        ("from mcp import McpError, types", "from mcp import MCPError as McpError, types"),
        ("from mcp.types import TextContent", "from mcp.types import TextContent"),
        ("from mcp.server.fastmcp.server import *", "from mcp.server.fastmcp.server import *"),
        ("from .fastmcp import FastMCP", "from .fastmcp import FastMCP"),
        ("from fastmcp.exceptions import ToolError", "from fastmcp.exceptions import ToolError"),
        ("from fastmcp.tools.tool import ToolResult", "from fastmcp.tools import ToolResult"),
    ],
)
def test_imports_of_version_1_are_those_of_version_2(before, after):
    assert f"{after}\n" in ported(before + "\n" + tool())


def test_a_file_of_which_nothing_is_ported_keeps_its_imports():
    text = "from mcp.server.fastmcp import Context, FastMCP\n" + tool(parameters="ctx: Context, *args")

    assert "from mcp.server.fastmcp import Context, FastMCP" in ported(text)


def test_options_that_run_takes_since_go_there():
    text = server("mcp.run(transport='sse')", made='mcp = FastMCP("shop", "Buy.", host="a", port=1)').replace(
        "from fastmcp", "from mcp.server.fastmcp"
    )

    after = ported(text)

    assert 'mcp = FastMCP("shop", instructions="Buy.")\n' in after
    assert "mcp.run(transport='sse', host=\"a\", port=1)\n" in after


@pytest.mark.parametrize(
    ("made", "run", "made_after", "run_after"),
    [
        ('FastMCP("x", log_level="ERROR")', "mcp.run()", 'FastMCP("x")', "mcp.run()"),
        ('FastMCP("x", port=1)', "mcp.run('http', host='a')", 'FastMCP("x")', "mcp.run('http', host='a', port=1)"),
        ('FastMCP("x", port=1)', "mcp.run('http', port=2)", 'FastMCP("x")', "mcp.run('http', port=2)"),
        ("FastMCP(sse_path='/s')", "mcp.run(transport='sse')", "FastMCP()", "mcp.run(transport='sse', path='/s')"),
        ('FastMCP("x", on_duplicate_tools="warn")', "mcp.run()", 'FastMCP("x", on_duplicate="warn")', "mcp.run()"),
        ('FastMCP("x", instructions="y")', "mcp.run()", 'FastMCP("x", instructions="y")', "mcp.run()"),
    ],
)
def test_options_of_older_versions_of_fastmcp_go_where_they_are_taken(made, run, made_after, run_after):
    after = ported(server(run, made=f"mcp = {made}"))

    assert f"mcp = {made_after}\n" in after
    assert after.endswith(f"\n{run_after}\n")


def test_an_option_that_is_gone_is_noted_or_refused():
    gone = ported(server("mcp.run()", made="mcp = FastMCP('x', dependencies=['y'])"))
    refused = refusals(server("mcp.run()", made="mcp = FastMCP('x', tool_serializer=str)"))

    assert "# mrtr: decide: dependencies= was left out: they stand in fastmcp.json\nmcp = FastMCP('x')\n" in gone
    assert refused == ["FastMCP 4 takes no tool_serializer=; return ToolResult from the tools"]


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ('mcp = FastMCP("shop")', '"shop"'),
        ('mcp = FastMCP(name="my shop", version="1")', '"my shop"'),
        ("mcp = FastMCP(NAME)", "mcp.name"),
        ("mcp = FastMCP()", '"shop"'),
        ("mcp: FastMCP = FastMCP('shop')", '"shop"'),
    ],
)
def test_the_toolbox_is_named_after_the_server(made, named):
    assert f"{made}\ntoolbox = Toolbox({named})\n" in ported(server(made=made))


def test_two_servers_have_two_toolboxes():
    text = server("other = FastMCP('b')", tool("@other.tool").replace("def do", "def two"), "mcp.run()", "other.run()")

    after = ported(text)

    assert 'toolbox = Toolbox("shop")' in after
    assert 'toolbox_2 = Toolbox("b")' in after
    assert "attach(toolbox, mcp)\nmcp.run()\nattach(toolbox_2, other)\nother.run()\n" in after
    assert "# mrtr: decide: this is a second toolbox in one process: read the keys once" in after


def test_a_name_that_is_taken_is_left_alone():
    assert "toolbox_2 = Toolbox" in ported(server("toolbox = []"))


@pytest.mark.parametrize(
    "start",
    [
        "if __name__ == '__main__':\n    ATTACH\n    mcp.run()",
        "def main():\n    ATTACH\n    mcp.run()",
        "async def main():\n    ATTACH\n    await mcp.run_async()",
        "ATTACH\napp = mcp.http_app()",
        "def main():\n    ATTACH\n    anyio.run(mcp.run_stdio_async)",
        "def main(http):\n    ATTACH\n    if http:\n        mcp.run('http')\n    else:\n        mcp.run()",
        "try:\n    ATTACH\n    mcp.run()\nexcept KeyboardInterrupt:\n    pass",
    ],
)
def test_the_toolbox_is_attached_before_its_server_starts(start):
    before = "\n".join(line for line in start.split("\n") if "ATTACH" not in line)

    assert ported(server(before)).endswith(start.replace("ATTACH", "attach(toolbox, mcp)") + "\n")


def test_a_server_that_is_started_elsewhere_gets_a_start_and_a_note():
    assert ported(server()).endswith(
        "\n\n\n# mrtr: decide: what starts mcp from outside of this file has to call attach(toolbox, mcp) first\n"
        'if __name__ == "__main__":\n    attach(toolbox, mcp)\n    mcp.run()\n'
    )


def test_a_tool_that_comes_later_goes_to_the_toolbox_that_is_there():
    once = ported(server("mcp.run()"))

    again = ported(
        once.replace("attach(toolbox, mcp)", tool().replace("def do", "def two").strip() + "\n\n\nattach(toolbox, mcp)")
    )

    assert again.count("Toolbox(") == again.count("attach(") == 1
    assert "@toolbox.tool\n@resumable\nasync def two" in again


# What runs once


def test_what_runs_before_a_question_goes_through_once_where_its_function_says_what_it_returns():
    text = """
        async def load(key: str, *, deep: bool = False) -> dict[str, int]:
            return await db.fetch(key)

        async def loose(key):
            return await db.fetch(key)

        def store(key: str) -> None:
            open(key, "w").write(key)

        async def after(key: str) -> str:
            return await db.fetch(key)

        @mcp.tool
        async def do(key: str, ctx: Context) -> str:
            found = await load(key, deep=True)
            more = await loose(key)
            store(key)
            answer = await ctx.elicit("Sure?", response_type=bool)
            return await after(key)
    """

    after = ported(text)

    assert "    found = await ctx.once(load, key, deep=True)\n" in after
    assert "    more = await loose(key)\n" in after
    assert "    await ctx.once(store, key)\n" in after
    assert "    return await after(key)\n" in after
    assert (
        "    # mrtr: decide: loose(...), through db.fetch(...) of loose, may bring something else in each round"
        in after
    )


@pytest.mark.parametrize(
    "annotation",
    [
        "str",
        "None",
        "list[dict[str, Any]]",
        "int | None",
        '"list[str]"',
        "Literal['a']",
        "Optional[Room]",
        "Kind",
        "Pair",
    ],
)
def test_what_json_brings_back_is_run_once(annotation):
    classes = """
class Room(BaseModel):
    name: str

@dataclass
class Pair:
    one: str

class Kind(StrEnum):
    A = "a"
"""
    text = f"{classes}\nasync def load() -> {annotation}:\n    return await db.fetch()\n\n" + tool().replace(
        "    answer", "    await load()\n    answer"
    )

    assert "    await ctx.once(load)\n" in ported(text)


@pytest.mark.parametrize("call", ["load(*xs)", "load(**xs)", "shop.load()", "decorated()"])
def test_a_call_that_cannot_be_taken_apart_is_left_where_it_is(call):
    helpers = "async def load(*xs) -> str:\n    return await db.fetch()\n\n@cached\nasync def decorated() -> str:\n"
    text = f"{helpers}    return await db.fetch()\n" + tool().replace("    answer", f"    await {call}\n    answer")

    assert "ctx.once" not in ported(text)


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        ("time.time()", "float"),
        ("int(time.time())", "int"),
        ("secrets.token_hex(4)", "str"),
        ('"a-" + uuid.uuid4().hex', "str"),
        ("uuid.uuid4()", "uuid.UUID"),
        ("datetime.datetime.now(datetime.UTC)", "datetime.datetime"),
        ('f"{random.randint(1, 6)}"', "str"),
    ],
)
def test_a_value_that_a_question_shows_is_made_once(value, annotation):
    imports = "import datetime, random, secrets, time, uuid\n"
    text = imports + tool().replace(
        '    answer = await ctx.elicit("Sure', f'    key = {value}\n    answer = await ctx.elicit(f"{{key}}'
    )

    after = ported(text)

    assert f"def new_key() -> {annotation}:\n    return {value}\n\n\n@toolbox.tool" in after
    assert "    key = await ctx.once(new_key)\n" in after


@pytest.mark.parametrize(
    "value", ["random.choice(NAMES)", "uuid4()", "names[random.randint(0, 1)]", "(time.time(), 1)"]
)
def test_a_value_of_which_nobody_knows_what_it_is_refuses_the_tool(value):
    text = "import random, time\nfrom uuid import uuid4\n" + tool(parameters="names: list[str], ctx: Context").replace(
        '    answer = await ctx.elicit("Sure', f'    key = {value}\n    answer = await ctx.elicit(f"{{key}}'
    )

    assert "another one in each round (MRTR106)" in refusals(text)[0]


@pytest.mark.parametrize("annotation", ["Client", "Iterator[str]", "object", '"Unknown"'])
def test_what_json_cannot_bring_back_is_not_run_once(annotation):
    text = f"async def load() -> {annotation}:\n    return await db.fetch()\n\n" + tool().replace(
        "    answer", "    await load()\n    answer"
    )

    assert "ctx.once" not in ported(text)


# Steps


def test_a_question_that_a_text_cannot_tell_is_made_by_a_function():
    text = """
        @mcp.tool
        async def do(names: list[str], ctx: Context) -> str:
            ok = await ctx.elicit(f"Delete {', '.join(names)}?", response_type=bool)
            return "yes" if ok.action == "accept" and ok.data else "no"
    """

    assert textwrap.dedent("""
        def ask_do_ok(names: list[str]):
            return confirm(f"Delete {', '.join(names)}?")


        @toolbox.tool
        @needs_input(ok=ask_do_ok)
        async def do(names: list[str], ok: bool | Refused) -> str:
            return "yes" if ok and ok else "no"
    """) in ported(text, steps=True)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("for x in xs:\n        a = await ctx.elicit('a', response_type=str)", "inside of another statement"),
        ("a = (await ctx.elicit('a', response_type=str)).data", "inside of another statement"),
        ("a = await ctx.elicit('a', response_type=str)\n    keep(a)", "more than its action and its data"),
        ("a = await ctx.elicit('a', response_type=MODEL())", "no form that an annotation tells"),
        ("a = await ctx.sample('a')", "asks what no form of a parameter asks"),
        (
            "x = compute()\n    a = await ctx.elicit('a', response_type=str)\n    return f'{x} {a.data}'",
            "x is handed on, and nobody has written down what it is",
        ),
        (
            "a = await ctx.elicit('a', response_type=str)\n    ctx.session.send_log_message('info', a.data)",
            "ctx is used",
        ),
    ],
)
def test_what_is_no_straight_line_stays_on_the_bridge_with_the_reason(lines, reason):
    loose = "class Loose(BaseModel):\n    many: list[str]\n\n\n"
    text = f"{loose}@mcp.tool\nasync def do(xs: list[str], ctx: Context) -> str:\n    {lines}\n"

    done = port(parse_source(text, Path("shop.py")), steps=True)

    [outcome] = done.outcomes
    assert outcome.verdict is Verdict.PORTED
    assert reason in str(outcome.reasons[-1])
    assert "@resumable" in done.text


def test_a_file_that_is_on_the_bridge_already_goes_on_to_steps():
    once = ported(server("mcp.run()"))

    after = ported(once, steps=True)

    assert "resumable" not in after
    assert "from mrtr_tools import Refused, Toolbox, needs_input\n" in after
    assert '@toolbox.tool\n@needs_input(answer="Sure?")\nasync def do(answer: bool | Refused) -> str:\n' in after


def test_what_is_handed_on_is_annotated_by_what_is_known_of_it():
    text = """
        class Guest(BaseModel):
            name: str
            age: int = 3

        async def price_of(day: str) -> float:
            return 3.0

        @mcp.tool
        async def do(day: str, ctx: Context, note: str | None = None) -> str:
            price = await price_of(day)
            label: list[str] = [day]
            size, text = len(day), day.strip()
            count = len(day)
            title = day.upper()
            fixed = 3
            guest = await ctx.elicit("Who?", response_type=Guest)
            if guest.action != "accept":
                return "Nobody."
            name, age = guest.data.name, 1
            years = guest.data.age
            ok = await ctx.elicit("Sure?", response_type=bool)
            return f"{price} {label} {count} {title} {fixed} {guest.data.name} {years} {ok.action} {note}"
    """

    after = ported(text, steps=True)

    signature = after.partition("async def do_with_ok(")[2].partition(") -> str:")[0]
    told = dict(line.strip().rstrip(",").split(": ", 1) for line in signature.strip().splitlines())
    assert {told.pop(name) for name in list(told) if name.startswith("guest")} == {"Guest"}
    assert told == {
        "note": "str | None",
        "price": "float",
        "label": "list[str]",
        "count": "int",
        "title": "str",
        "fixed": "int",
        "years": "int",
        "ok": "bool | Refused",
    }


# Where things stand in the file


def test_imports_below_the_server_do_not_draw_those_of_ours_below_its_toolbox():
    text = (
        "from fastmcp import Context, FastMCP\n"
        'mcp = FastMCP("shop")\n'
        "\nfrom typing import Literal\n" + tool().replace("bool", 'Literal["yes", "no"]')
    )
    lines = ported(text).splitlines()
    assert lines.index("from mrtr_tools import Toolbox") < lines.index('toolbox = Toolbox("shop")')
    assert lines.index('toolbox = Toolbox("shop")') < lines.index("from typing import Literal")
    exec(compile(ported(text), "shop.py", "exec"), {"__name__": "shop"})


def test_a_server_of_the_sdk_that_was_imported_by_the_short_way_is_one_of_version_1():
    text = (
        "from mcp.server import FastMCP\n"
        'app = FastMCP("files", port=8001)\n'
        "@app.tool()\n"
        "async def delete(path: str) -> str:\n"
        '    result = await app.get_context().session.elicit("Sure?", {"type": "object", "properties": {}})\n'
        "    return result.action\n"
        'app.run(transport="stdio")\n'
    )
    after = ported(text)
    assert "from mcp.server import MCPServer as FastMCP" in after
    assert 'get_context().session.elicit("Sure?"' in after
    assert "app.get_context" not in after


def test_a_tool_whose_form_has_a_field_that_no_form_shows_is_refused():
    text = server().replace("mcp =", "class Wanted:\n    tags: list[str]\n\n\nmcp =").replace("=bool", "=Wanted")
    assert refusals(text) == ["Wanted has tags: list[str], which no form shows (MRTR219)"]


@pytest.mark.parametrize(
    "lines",
    [
        "mcp.tool(Shop().buy)",
        "mcp.tool()(Shop().buy)",
        "mcp.add_tool(Tool.from_function(Shop().buy))",
    ],
)
def test_a_bound_method_that_asks_is_refused_and_not_passed_over(lines):
    text = (
        "class Shop:\n    async def buy(self, ctx: Context) -> str:\n"
        f"        return (await ctx.elicit('Sure?', response_type=bool)).action\n{lines}\n"
    )
    assert refusals(text) == ["it is a method; make it a function"]


def test_a_handler_of_a_low_level_server_is_refused_and_not_passed_over():
    text = (
        "@server.call_tool()\nasync def call(name: str, arguments: dict) -> list:\n"
        "    return [await server.request_context.session.elicit('Sure?', {})]\n"
    )
    assert refusals(text) == ["it is a handler of a low-level server; give each tool a function on a toolbox"]


def test_a_helper_that_asks_for_tools_of_another_file_is_no_tool_to_be_refused():
    text = "class Asking:\n    async def sure(self, ctx: Context):\n        return await ctx.elicit('Sure?', bool)\n"
    assert port(parse_source(text, Path("shop.py"))).outcomes == []


def test_a_call_of_several_lines_that_loses_its_last_option_closes_where_it_did():
    made = 'mcp = FastMCP(\n    "shop",\n    sampling_handler=ask,\n    sampling_handler_behavior="fallback",\n)'
    text = ported(server(made=made))
    assert 'mcp = FastMCP(\n    "shop",\n)\n' in text
    assert text.index("sampling_handler= was") < text.index("sampling_handler_behavior= was")


def test_a_function_that_makes_the_class_of_its_form_goes_to_no_steps():
    text = (
        "from dataclasses import dataclass\nfrom fastmcp import Context, FastMCP\nmcp = FastMCP('shop')\n"
        "@mcp.tool\nasync def do(ctx: Context) -> str:\n    @dataclass\n    class Wanted:\n        size: int\n"
        "    answer = await ctx.elicit('Which?', response_type=Wanted)\n    return answer.action\n"
    )
    [outcome] = port(parse_source(text, Path("shop.py")), steps=True).outcomes
    assert outcome.verdict is Verdict.PORTED
    assert "it defines a class or a decorated function; put that above it" in str(outcome.reasons[-1])
