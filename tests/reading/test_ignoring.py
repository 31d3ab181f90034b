"""`# mrtr: ignore[CODE] reason`."""

from pathlib import Path

from mrtr_tools.reading import check
from mrtr_tools.reading.sources import parse_source

TEXT = """@toolbox.tool
@needs_input(name="Name?"){behind}
{above}@needs_input(sure="Sure?"){other}
def greet(name: str, sure: bool) -> str:
    return "hello" if sure else ""
"""


def found(**comments: str) -> list[tuple[str, int]]:
    text = TEXT.format(**{"behind": "", "above": "", "other": ""} | comments)
    return [(each.code, each.line) for each in check([parse_source(text, Path("x.py"))])]


def test_a_comment_with_a_reason_silences_a_code_in_its_line():
    assert found() == [("MRTR301", 2), ("MRTR302", 3)]
    assert found(behind="  # mrtr: ignore[MRTR301] the log shows who it was") == [("MRTR302", 3)]


def test_a_comment_alone_silences_the_next_line_of_code():
    above = "# mrtr: ignore[MRTR302] no gate\n# as everyone knows\n"

    assert found(above=above) == [("MRTR301", 2)]


def test_without_a_reason_nothing_is_silenced_and_that_is_an_error():
    assert found(behind="  # mrtr: ignore[MRTR301]") == [("MRTR301", 2), ("MRTR901", 2), ("MRTR302", 3)]


def test_another_code_is_not_silenced():
    assert found(behind="  # mrtr: ignore[MRTR302] why not") == [("MRTR301", 2), ("MRTR902", 2), ("MRTR302", 3)]


def test_several_codes_are_separated_by_commas():
    assert found(other="  # mrtr: ignore[MRTR302, MRTR215] a question of taste") == [("MRTR301", 2), ("MRTR902", 3)]


def test_what_stands_in_a_text_is_no_comment():
    text = 'TEXT = "# mrtr: ignore[MRTR301]"\n'

    assert check([parse_source(text, Path("x.py"))]) == []
