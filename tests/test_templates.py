from dataclasses import dataclass

import pytest

from mrtr_tools.templates import Template, TemplateError, shown


@dataclass
class Flight:
    price: float
    number: str = "LH1"


def test_names_and_attributes_are_filled_in():
    assert (
        Template("Fly {number} to {city} for {flight.price:.2f} EUR?").fill(
            {"number": 3, "city": "Lisbon", "flight": Flight(99.5)}
        )
        == "Fly 3 to Lisbon for 99.50 EUR?"
    )


def test_doubled_braces_are_braces():
    assert Template("{{literally}} {x}").fill({"x": 1}) == "{literally} 1"


@pytest.mark.parametrize(
    "text",
    [
        "{x._secret}",
        "{__class__}",
        "{x.__class__.__mro__}",
        "{x[0]}",
        "{}",
        "{0}",
        "{x!r}",
        "{x:{width}}",
        "{x.}",
        "{a b}",
    ],
)
def test_anything_but_plain_names_and_attributes_is_refused(text: str):
    """Security 6: a template cannot reach into objects."""
    with pytest.raises(TemplateError, match=r"must be a parameter|plain format"):
        Template(text)


@pytest.mark.parametrize("text", ["{x", "x}", "{x} }"])
def test_a_stray_brace_is_refused_with_the_way_out(text: str):
    with pytest.raises(TemplateError, match="for braces"):
        Template(text)


def test_an_answer_that_looks_like_a_template_stays_text():
    """Security 6: values are never formatted again."""
    assert Template("{who} is full").fill({"who": "{flight.f.__globals__[SIGNING_KEY]}"}) == (
        "{flight.f.__globals__[SIGNING_KEY]} is full"
    )


def test_a_value_cannot_break_the_line_or_hide_text():
    """Security 6: newlines, controls, bidi and zero-width characters are escaped."""
    hostile = "Paris for 9 EUR?\n\nRefundable.\r\t\x1b[2J\u202e\u200b\u2028\ufeff\u00ad\U000e0041\ud800"
    filled = Template("Fly to {city}?").fill({"city": hostile})

    assert filled == (
        "Fly to Paris for 9 EUR?\\n\\nRefundable.\\r\\t\\x1b[2J\\u202e\\u200b\\u2028\\ufeff\\xad\\U000e0041\\ud800?"
    )


def test_a_value_is_cut_at_200_characters():
    """Security 6: a long value cannot push the question out of sight."""
    filled = Template("{a} and {b}").fill({"a": "x" * 200, "b": "y" * 5000})

    assert filled == "x" * 200 + " and " + "y" * 199 + "…"


def test_ordinary_text_of_any_script_is_left_alone():
    text = "Größe ✓ 🔥 日本語 עברית"
    assert shown(text) == text
