"""What others reported of this kind of software: answers."""

from typing import Any

import pytest

from mrtr_tools import Refused, Toolbox, confirm, needs_input
from tests.attacker import Server
from tests.wire_by_hand import accept


def asking(annotation: Any) -> Server:
    toolbox = Toolbox("t")

    def tell(value: Any) -> str:
        return repr(value)

    tell.__annotations__ = {"value": annotation, "return": str}
    toolbox.tool(needs_input(value="Which value?")(tell))
    return Server(toolbox)


def answered(server: Server, response: object) -> object:
    """The result after an answer, or the word for being asked again."""
    reply: Any = server.send("tell", state=server.ask("tell").state, value=response)
    return getattr(reply, "value", "asked again")


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": {}}, {"content": "x"}])
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_refusal_is_one_whatever_its_content(action: str, content: dict[str, Any]) -> None:
    """Reported as modelcontextprotocol/typescript-sdk#966: `content: null` comes along."""
    assert answered(asking(str | Refused), {"action": action, **content}) == f"Refused(action='{action}')"


def test_the_content_of_a_decline_is_never_used() -> None:
    """Reported as Kuadrant/mcp-gateway#1517."""
    assert (
        answered(asking(str | Refused), {"action": "decline", "content": {"value": "yes"}})
        == "Refused(action='decline')"
    )

    toolbox = Toolbox("t")
    ran: list[bool] = []

    @toolbox.tool
    @needs_input(ok=confirm("Sure?"))
    def act() -> str:
        ran.append(True)
        return "acted"

    server = Server(toolbox)
    done = server.end("act", state=server.ask("act").state, ok={"action": "decline", "content": {"ok": True}})

    assert (done.is_error, ran) == (True, [])


@pytest.mark.parametrize(
    ("sent", "result"),
    [
        ("42xyz", "asked again"),
        ("42", "42"),
        (" 42 ", "42"),
        (42.0, "42"),
        (42.5, "asked again"),
        ("42.5", "asked again"),
        ("4_2", "asked again"),
        ("٤٢", "asked again"),
        ("0x2a", "asked again"),
        (True, "asked again"),
        ("yes", "asked again"),
        ("", "asked again"),
        (None, "asked again"),
        (2**60, str(2**60)),
    ],
)
def test_a_whole_number_is_read_from_text_but_not_guessed_from_it(sent: object, result: str) -> None:
    """ "42" and 42.0 are 42; "42xyz" and 42.5 are asked again; large ones are exact.

    Reported as QwenLM/qwen-code#4405, anthropics/claude-code#78762.
    """
    assert answered(asking(int), accept(value=sent)) == result


@pytest.mark.parametrize("action", ["reject", "ACCEPT", "Accept", "accepted", "", None, 1, ["accept"], {"accept": 1}])
def test_an_action_that_the_protocol_does_not_know_is_no_accept(action: object) -> None:
    """Reported as modelcontextprotocol/inspector#535: asked again."""
    assert answered(asking(str | Refused), {"action": action, "content": {"value": "x"}}) == "asked again"


class Killed(BaseException):
    """Stands for the death of the process."""


def test_a_round_that_died_half_way_can_be_sent_again() -> None:
    """Nothing on our side remembers that it was answered.

    Reported as huggingface/chat-ui#2568, artokun/comfyui-mcp#811.
    """
    toolbox = Toolbox("t")
    tries: list[str] = []

    @toolbox.tool
    @needs_input(size="Which size?")
    async def make(size: str) -> str:
        tries.append(size)
        if len(tries) == 1:
            raise Killed
        return f"made {size}"

    server = Server(toolbox)
    asked = server.ask("make")

    with pytest.raises(Killed):
        server.send("make", state=asked.state, size=accept(size="L"))
    assert server.end("make", state=asked.state, size=accept(size="L")).value == "made L"
    assert server.end("make", state=asked.state, size=accept(size="L")).value == "made L"
