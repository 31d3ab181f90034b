import subprocess
import sys

import anyio
import pytest
from mcp import Client, types
from mcp.client import ClientRequestContext

from cookbook import add_to_your_server as recipe
from mrtr_tools.server import attach
from mrtr_tools.testing import Player

BOTH_ERAS = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])


@pytest.fixture(scope="module", autouse=True)
def attached() -> None:
    keygen = [sys.executable, "-m", "mrtr_tools.cli", "keygen"]
    key = subprocess.run(keygen, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
    attach(recipe.toolbox, recipe.server, keys=[key.stdout.strip()])


@pytest.fixture(autouse=True)
def full_shelves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "books", {"Dune", "Emma"})


def client(mode: str, *, ok: bool) -> Client:
    async def answer(_: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert params.message == "Borrow Dune for four weeks?"
        return types.ElicitResult(action="accept", content={"ok": ok})

    return Client(recipe.server, mode=mode, elicitation_callback=answer)  # type: ignore[arg-type]


@pytest.mark.anyio
@BOTH_ERAS
async def test_clients_see_one_server_with_both_kinds_of_tools(mode: str) -> None:
    with anyio.fail_after(20):
        async with client(mode, ok=True) as library:
            tools = {tool.name for tool in (await library.list_tools()).tools}
            borrowed = await library.call_tool("borrow_book", {"title": "Dune"})
            left = await library.call_tool("list_books")

    assert tools == {"list_books", "borrow_book"}
    assert borrowed.structured_content == {"result": "Dune is yours for four weeks."}
    assert left.structured_content == {"result": ["Emma"]}


@pytest.mark.anyio
@BOTH_ERAS
async def test_without_a_yes_the_book_stays(mode: str) -> None:
    with anyio.fail_after(20):
        async with client(mode, ok=False) as library:
            refused = await library.call_tool("borrow_book", {"title": "Dune"})

    assert refused.is_error
    assert recipe.books == {"Dune", "Emma"}


def test_its_toolbox_is_tested_without_the_server() -> None:
    assert Player(recipe.toolbox).play("borrow_book", {"title": "Emma"}, ok=True).text.startswith("Emma is yours")
