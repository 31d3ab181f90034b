import sys
import unicodedata
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


UNSEEN = {
    "no-break space": "\xa0",
    "combining grapheme joiner": "\u034f",
    "arabic number sign": "\u0600",
    "hangul fillers": "\u115f\u1160\u3164\uffa0",
    "khmer vowels that show nothing": "\u17b4\u17b5",
    "mongolian separators": "\u180b\u180c\u180d\u180e\u180f",
    "spaces of every width": "\u1680\u2000\u2003\u200a\u202f\u205f\u3000",
    "invisible operators": "\u2061\u2062\u2063\u2064\u2065",
    "braille blank": "\u2800",
    "variation selectors": "\ufe00\ufe0f\U000e0100\U000e01ef",
    "musical beams": "\U0001d173\U0001d17a",
    "shorthand controls": "\U0001bca0\U0001bca3",
    "tags": "\U000e0001\U000e007f",
}


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN)
def test_what_shows_as_nothing_or_as_a_space_is_escaped(unseen: str):
    """Security 6: it could push text out of sight, or make two texts look alike."""
    filled = Template("Pay {who}?").fill({"who": f"Ann{unseen}Bob"})

    assert filled == f"Pay Ann{unseen.encode('unicode_escape').decode()}Bob?"


def test_every_control_and_every_space_but_one_is_escaped():
    """Security 6: as Unicode has them."""
    unseen = [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs") and character != " "
    ]

    assert len(unseen) > 2000
    assert [hex(ord(character)) for character in unseen if shown(character) == character] == []


@pytest.mark.parametrize("spec", [".2f", "e", "%"])
def test_a_number_beyond_all_floats_is_shown_without_its_format(spec: str):
    """Security 6: whoever chooses the number does not choose whether the tool fails."""
    assert Template(f"Pay {{price:{spec}}}?").fill({"price": 10**400}) == "Pay 1" + "0" * 198 + "…?"


@pytest.mark.parametrize(("value", "spec"), [(None, ".2f"), ("x", "d"), ([1], ">5")])
def test_a_value_that_has_no_such_format_is_shown_without_it(value: object, spec: str):
    assert Template(f"{{value:{spec}}}").fill({"value": value}) == str(value)
