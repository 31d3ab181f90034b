"""`cookbook/PORTING.md` tells the rules as they are, and its code is code that runs."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mrtr_tools import Toolbox
from mrtr_tools.reading import RULES, Severity, check
from mrtr_tools.reading.sources import parse_source
from mrtr_tools.rewriting import Verdict, port
from mrtr_tools.testing import Player

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "cookbook" / "PORTING.md").read_text()
BLOCKS = [
    (PAGE[: match.start()].count("\n") + 2, match[1] is not None, match[2])
    for match in re.finditer(
        r"^(<!-- of another version -->\n)?```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL
    )
]
RUNNABLE = [(line, text) for line, is_of_another, text in BLOCKS if not is_of_another]


def loaded(text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    module = ModuleType("of_the_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(text, "PORTING.md", "exec"), module.__dict__)
    return vars(module)


def block(*texts: str) -> str:
    [found] = [text for _, _, text in BLOCKS if all(part in text for part in texts)]
    return found


def test_the_table_has_every_rule_as_it_is():
    rows = re.findall(r"^\| (MRTR\d+) \| (\w+) \| (.+?) \| (.+?) \|$", PAGE, flags=re.MULTILINE)

    assert rows == [(rule.code, rule.severity.value, rule.title, rule.way_out) for rule in RULES.values()]


def test_codes_stand_in_their_order_and_every_rule_has_a_way_out():
    assert list(RULES) == sorted(RULES)
    assert all(re.fullmatch(r"MRTR\d{3}", code) and rule.way_out and rule.title for code, rule in RULES.items())
    assert {rule.severity for rule in RULES.values()} == set(Severity)


@pytest.mark.parametrize(("line", "text"), RUNNABLE, ids=lambda value: str(value) if isinstance(value, int) else "")
def test_a_block_runs(line, text, monkeypatch):
    loaded(text, monkeypatch)


@pytest.mark.parametrize("name", ["rooms", "bookings"])
def test_port_writes_what_the_page_shows(name):
    before = block(f'FastMCP("{name}"', "@mcp.tool")

    done = port(parse_source(before, Path(f"{name}.py")))

    assert [each.verdict for each in done.outcomes] == [Verdict.PORTED]
    assert done.text == block(f'FastMCP("{name}"', "@resumable")


@pytest.mark.parametrize(
    ("texts", "call", "answers", "says"),
    [
        (
            ('"rooms"', "@needs_input"),
            ("book_room", {"day": "Monday"}),
            {"size": 3, "ok": True},
            "Booked for 3 on Monday.",
        ),
        (
            ('"rooms"', "@resumable"),
            ("book_room", {"day": "Monday"}),
            {"ask": 3, "ask-2": True},
            "Booked for 3 on Monday.",
        ),
        (('"bookings"', "@needs_input"), ("book_table", {"date": "2026-12-24"}), {}, "Booked for 2026-12-24."),
        (
            ('"bookings"', "@needs_input"),
            ("book_table", {"date": "2026-12-25"}),
            {"table": {"check": True, "date": "2027-01-01"}},
            "Booked for 2027-01-01.",
        ),
        (
            ('"bookings"', "@resumable"),
            ("book_table", {"date": "2026-12-25"}),
            {"ask": {"check": True, "date": "2027-01-01"}},
            "Booked for 2027-01-01.",
        ),
        (('"files"', "@needs_input"), ("delete_file", {"path": "a"}), {"ok": True}, "Deleted a."),
        (('"files"', "@needs_input"), ("delete_file", {"path": "a"}), {"ok": False}, "Nothing was deleted."),
        (('"flights"', "@needs_input"), ("fly", {"city": "Oslo"}), {"ok": True}, "To Oslo for 40."),
    ],
)
def test_a_tool_of_the_page_does_what_it_says(texts, call, answers, says, monkeypatch):
    toolbox = loaded(block(*texts), monkeypatch)["toolbox"]
    assert isinstance(toolbox, Toolbox)

    played = Player(toolbox).play(*call, **answers)

    assert played.text == says
    assert played.questions == list(answers)


@pytest.mark.parametrize("name", ["rooms", "bookings", "files", "flights"])
def test_check_finds_nothing_in_the_steps_of_the_page(name):
    assert check([parse_source(block(f'Toolbox("{name}")', "@needs_input"), Path("x.py"))]) == []


def test_check_finds_a_price_that_is_looked_up_again():
    text = block('Toolbox("flights")')

    again = text.replace("for {price}.", "for {await price_of(city)}.")

    assert [each.code for each in check([parse_source(again, Path("x.py"))])] == ["MRTR304"]


def test_the_page_is_linked_from_the_pages_that_lead_to_it():
    for page in ("README.md", "cookbook/README.md"):
        assert re.search(r"\]\((?:cookbook/)?PORTING\.md\)", (ROOT / page).read_text()), page
