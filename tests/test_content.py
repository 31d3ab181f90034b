"""Content that a step gives back beside text: what it is, and what it is not."""

from typing import Any

import pytest

from mrtr_tools import Toolbox
from mrtr_tools.content import Audio, Embedded, Image
from mrtr_tools.events import Finished
from tests.rounds_by_hand import begin, play, tool

EACH: list[Any] = [
    Image(b"\x89PNG"),
    Audio(b"RIFF"),
    Embedded("notes://a", "secret text"),
    Embedded("notes://b", b"\0"),
]


@pytest.mark.parametrize(
    ("content", "mime_type"), [(Image(b""), "image/png"), (Audio(b""), "audio/wav"), (Embedded("notes://a", ""), None)]
)
def test_content_has_the_usual_format_unless_it_says_another(content: Any, mime_type: str | None):
    assert content.mime_type == mime_type


@pytest.mark.parametrize("content", EACH, ids=lambda content: type(content).__name__)
def test_content_shows_what_it_is_and_not_what_it_holds(content: Any):
    """Logs are no place for it."""
    assert "mime_type" in repr(content)
    assert not any(inside in repr(content) for inside in ("PNG", "RIFF", "secret", "\\x00"))


def test_content_is_equal_by_value_and_cannot_be_changed():
    assert Image(b"a") == Image(b"a", "image/png") != Image(b"a", "image/jpeg")
    with pytest.raises(AttributeError):
        EACH[0].data = b""


@pytest.mark.parametrize("annotation", [Image, Audio, Embedded, list[Image], list[str | Image], Image | None])
def test_a_tool_that_gives_content_promises_no_structure(annotation: Any):
    def draw():
        return Image(b"a")

    draw.__annotations__ = {"return": annotation}

    assert tool(draw).tools["draw"].output_schema is None


def test_content_ends_a_call_as_it_was_returned():
    def draw() -> list[str | Image]:
        return ["Here:", Image(b"a")]

    event = play(begin(tool(draw), "draw"))

    assert isinstance(event, Finished)
    assert (event.reply.value, event.reply.structured) == (["Here:", Image(b"a")], None)


def test_content_is_a_result_of_prompts_and_resources_too():
    toolbox = Toolbox("t")

    @toolbox.resource("notes://picture")
    def picture() -> Image:
        return Image(b"a")

    assert picture() == Image(b"a")
    assert toolbox.resources["notes://picture"].complete(Image(b"a")).value == Image(b"a")
