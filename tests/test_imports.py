"""What imports what: the core stays small, the SDK stays out, and dependencies point one way."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mrtr_tools

ROOT = Path(mrtr_tools.__file__).parent

# From the bottom up: a module imports only from lines above its own, or from its own line what stands before it.
ORDER = """
base64url errors suspension initializers records
keys lifetimes secret_values digests differences findings
input_requests templates answers guards values choices properties calls progress
urls flat_schemas form_types forms
marks context
annotations
sampling questions
signatures
inputs
once task_marks response_types
steps
content arguments results carriers registry tools
responses
sealing state
events outcomes upgrades walk endings asks resuming rounds
threads single_use
runner
tasks
reading rewriting
answering rerunning testing
server
returns asking sessions surroundings porting
client
cli
"""
LAYERS = [line.split() for line in ORDER.split("\n") if line]
RANK = {name: (layer, place) for layer, names in enumerate(LAYERS) for place, name in enumerate(names)}
CORE = [name for name in RANK if RANK[name] < RANK["threads"]]

DEPENDENCIES = {
    "pydantic": {"pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"},
    "itsdangerous": {"itsdangerous"},
    "cryptography": {"cryptography", "_openssl", "_cffi_backend", "cffi"},
    "pydantic[email]": {"email_validator", "dns", "idna"},
}
ALLOWED = {"mrtr_tools"}.union(*DEPENDENCIES.values())
ANYIO = {"anyio", "sniffio", "idna"}

LOADS = """
import importlib, sys
for module in sys.argv[1:]:
    before = set(sys.modules)
    importlib.import_module(module)
    print(module, *sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def loaded_by(*modules: str, is_standard_too: bool = False) -> dict[str, set[str]]:
    """The packages each module brings into a fresh interpreter, beyond those before it and the standard library."""
    lines = [line.split() for line in told_by(LOADS, *modules).splitlines()]
    return {module: {name for name in names if is_standard_too or not _is_standard(name)} for module, *names in lines}


def told_by(code: str, *arguments: str) -> str:
    """What code prints in a fresh interpreter, into which coverage brings nothing of its own."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE_PROCESS_")}
    environment["PYTHONPATH"] = str(ROOT.parent)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _is_standard(name: str) -> bool:
    return name in sys.stdlib_module_names or name.startswith("_sysconfigdata")


def test_the_core_imports_nothing_but_what_is_on_the_list():
    loaded = loaded_by(*(f"mrtr_tools.{name}" for name in CORE))

    assert len(loaded) == len(CORE)
    assert {module: names - ALLOWED for module, names in loaded.items() if names - ALLOWED} == {}


def test_the_package_brings_the_core_and_nothing_else():
    assert loaded_by("mrtr_tools")["mrtr_tools"] - ALLOWED == set()


def test_anyio_comes_with_what_runs_in_threads():
    loaded = loaded_by("mrtr_tools.runner", "mrtr_tools.threads", "mrtr_tools.testing")

    assert "anyio" not in loaded["mrtr_tools.runner"]
    assert "anyio" in loaded["mrtr_tools.threads"]
    assert set().union(*loaded.values()) - ALLOWED - ANYIO == set()


PLAYED = """
import asyncio, sys
from mrtr_tools import Toolbox, needs_input
from mrtr_tools.calls import Call, Client
from mrtr_tools.runner import handle_call
from mrtr_tools.state import StateSigner
from mrtr_tools.keys import generate_key

toolbox = Toolbox("test")

@toolbox.tool
@needs_input(name="Who?")
async def greet(name: str) -> str:
    return name

async def play():
    signer = StateSigner([generate_key()], "test")
    call = Call("greet", client=Client({"elicitation": {"form": {}}}))
    asked = await handle_call(toolbox, call, signer)
    answers = {"name": {"action": "accept", "content": {"name": "Ada"}}}
    print((await handle_call(toolbox, Call("greet", {}, answers, asked.state, client=call.client), signer)).value)

asyncio.run(play())
print(*{"anyio", "sqlite3"} & sys.modules.keys())
"""


def test_a_call_of_an_async_tool_takes_neither_anyio_nor_a_database():
    """They are a twentieth of the memory of a small server."""
    assert told_by(PLAYED) == "Ada\n\n"


@pytest.mark.parametrize("name", ["server", "cli"])
def test_the_sdk_is_imported_only_when_something_is_served(name):
    """It takes most of a second."""
    sdk = {"mcp", "mcp_types", "starlette", "uvicorn", "httpx", "httpx2"}

    assert loaded_by(f"mrtr_tools.{name}")[f"mrtr_tools.{name}"] & sdk == set()


def test_what_a_first_answer_over_stdio_takes_brings_no_event_loop():
    """asyncio takes as long as a third of pydantic, and nobody waits for anything yet."""
    modules = [f"mrtr_tools.server.{name}" for name in ("over_http", "over_stdio", "lean", "opening", "pipes")]
    loaded = loaded_by(*modules, is_standard_too=True)

    assert set().union(*loaded.values()) & {"asyncio", "anyio"} == set()


def test_serving_brings_no_types_that_no_author_has_named_and_no_transport_before_one_is_chosen():
    """The types of `pydantic.networks` take long to import."""
    code = (
        "import sys, mrtr_tools.server; print(*sys.modules); import mrtr_tools.server.over_stdio; print(*sys.modules)"
    )
    before, after = (set(line.split()) for line in told_by(code).splitlines())

    assert not [name for name in before if name.startswith("mrtr_tools.server.")]
    assert "mrtr_tools.server.lean" in after
    assert "pydantic.networks" not in after


def test_the_names_of_the_adapters_can_be_found():
    code = "import mrtr_tools.server as server; print(*dir(server))"

    assert {"attach", "http_app", "run_http", "run_stdio"} <= set(told_by(code).split())


# Read from the source


def modules() -> dict[str, Path]:
    """Every file by its dotted name inside the package."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def test_pydantic_is_told_to_keep_no_values_of_what_it_reads():
    """It keeps short texts of whatever it has read, answers and secrets among them, unless it is told."""
    for name, path in modules().items():
        if name.partition(".")[0] in ("cli", "answering", "rerunning", "testing"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "from_json":
                assert "cache_strings" in {option.arg for option in node.keywords}, f"{name}, line {node.lineno}"


def imports(path: Path, *, own: bool = True) -> Iterator[tuple[str, ast.stmt, bool]]:
    """Each import of a file: the module, the statement, and whether it stands inside a function or class.

    What stands under ``if TYPE_CHECKING:`` is left out when `own`.
    """
    tree = ast.parse(path.read_text())
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    top = set(tree.body)
    for node in ast.walk(tree):
        if own and node in typing_only:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module in PACKAGES else [module]
            yield from ((name, node, node not in top) for name in names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node, node not in top) for alias in node.names)


PACKAGES = {f"mrtr_tools.{name}" for name in ("server", "single_use", "tasks", "client", "cli")} | {"mrtr_tools"}
MODULES = modules()


def own_imports(name: str) -> set[str]:
    """The modules of the package that a module imports, in dotted names."""
    found = set()
    for module, _, _ in imports(MODULES[name]):
        if module.startswith("mrtr_tools."):
            inside = module.removeprefix("mrtr_tools.")
            found.add(inside if inside in MODULES else inside.rpartition(".")[0])
    return found


def test_contributing_tells_the_same_order():
    page = (ROOT.parent / "CONTRIBUTING.md").read_text()
    told = re.search(r"^Dependencies point one way.*?\n\n((?: {4}.*\n)+)", page, flags=re.MULTILINE)

    assert told is not None
    assert [re.findall(r"\w+", line) for line in told[1].splitlines()] == LAYERS


def test_every_module_has_its_place_in_the_order():
    top = {name.partition(".")[0] for name in MODULES} - {""}

    assert top == set(RANK) & top, f"say where they stand: {sorted(top - set(RANK))}"


@pytest.mark.parametrize("name", [name for name in MODULES if name])
def test_dependencies_point_one_way(name):
    mine = name.partition(".")[0]
    for other in own_imports(name):
        theirs = other.partition(".")[0] or "tools"  # the package itself holds the authors' names
        assert theirs == mine or RANK[theirs] < RANK[mine], f"{name} imports {other}"


def test_there_is_no_cycle():
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path, name))
        if name not in done:
            for other in own_imports(name):
                visit(other, (*path, name))
            done.add(name)

    for name in MODULES:
        visit(name, ())


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith(("server", "cli", "runner"))])
def test_nothing_is_imported_inside_a_function(name):
    """But in the adapters and commands, where the SDK would cost every start, and in the runner, as anyio would."""
    inside = [module for module, _, nested in imports(MODULES[name]) if nested]

    assert inside == []


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith("server")])
def test_only_the_adapters_name_the_sdk(name):
    named = {module.partition(".")[0] for module, _, _ in imports(MODULES[name], own=False)}
    allowed = {"mcp", "mcp_types"} if name.startswith(("client", "cli")) else set()

    assert named & {"mcp", "mcp_types", "starlette", "uvicorn"} <= allowed


def test_only_where_tasks_are_kept_is_a_database_named():
    """It takes most of a second, and is an extra."""
    naming = {
        package: {
            name for name in MODULES if any(each.partition(".")[0] == package for each, _, _ in imports(MODULES[name]))
        }
        for package in ("dbos", "sqlalchemy")
    }

    assert naming == {
        "dbos": {"tasks.queue", "tasks.sealed_json"},
        "sqlalchemy": {"tasks.database", "tasks.queue", "tasks.store", "tasks.tables"},
    }
    loaded = loaded_by("mrtr_tools.tasks", "mrtr_tools.tasks.dbos")
    assert set().union(*loaded.values()) & set(naming) == set()


@pytest.mark.parametrize("name", CORE)
def test_the_core_does_no_io_and_waits_for_nothing(name):
    tree = ast.parse(MODULES[name].read_text())
    packages = {module.partition(".")[0] for module, _, _ in imports(MODULES[name], own=False)}
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}

    assert packages & {"anyio", "asyncio", "trio", "socket", "threading", "logging"} == set()
    assert called & {"time.sleep", "open", "print", "input"} == set()
    if name not in ("calls", "context"):  # where steps reach the channel that an adapter gave the call
        assert not any(isinstance(node, (ast.Await, ast.AsyncFunctionDef)) for node in ast.walk(tree))
