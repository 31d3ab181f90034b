"""What a server says it has: the lists of the protocol, ours beside its own, each name once; and what it can do."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import JsonValue

from mrtr_tools.records import record
from mrtr_tools.server import wire
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mcp.server import MCPServer

__all__ = ["LISTS", "List", "can_log", "kinds", "own_names"]

Json = dict[str, JsonValue]


@record
class List:
    """One of the lists of the protocol.

    Attributes:
        member: the member of the result that holds it.
        key: the member of an entry that no other entry has.
        what: how messages call an entry.
        ours: the entries of a toolbox, by key.
        theirs: asks a server for its own.
    """

    member: str
    key: str
    what: str
    ours: Callable[[Toolbox], dict[str, Json]]
    theirs: Callable[[MCPServer[Any]], Coroutine[Any, Any, list[Any]]]

    def merged(self, toolbox: Toolbox, listed: Mapping[str, Any], server: str) -> Json:
        """The first page of a list, with ours before what is there.

        Raises:
            ValueError: there are two of the same name.
        """
        others, ours = cast("list[Json]", listed[self.member]), self.ours(toolbox)
        for other in others:
            if other[self.key] in ours:
                raise ValueError(self.clash(str(other[self.key]), server))
        return {**listed, self.member: [*ours.values(), *others]}

    def clash(self, name: str, server: str) -> str:
        """What to say when there are two of the same name."""
        return (
            f"{server!r} has two {self.what} named {name!r}, at least one of them in a toolbox: give one another name"
        )


def _tools(toolbox: Toolbox) -> dict[str, Json]:
    return {name: wire.tool_entry(tool) for name, tool in toolbox.tools.items()}


def _prompts(toolbox: Toolbox) -> dict[str, Json]:
    return {name: wire.prompt_entry(prompt) for name, prompt in toolbox.prompts.items()}


def _resources(toolbox: Toolbox) -> dict[str, Json]:
    return {uri: wire.resource_entry(each) for uri, each in toolbox.resources.items() if not each.uri.variables}


def _templates(toolbox: Toolbox) -> dict[str, Json]:
    return {uri: wire.resource_entry(each) for uri, each in toolbox.resources.items() if each.uri.variables}


LISTS: Final[Mapping[str, List]] = {
    "tools/list": List("tools", "name", "tools", _tools, lambda server: server.list_tools()),
    "prompts/list": List("prompts", "name", "prompts", _prompts, lambda server: server.list_prompts()),
    "resources/list": List("resources", "uri", "resources", _resources, lambda server: server.list_resources()),
    "resources/templates/list": List(
        "resourceTemplates",
        "uriTemplate",
        "resources",
        _templates,
        lambda server: server.list_resource_templates(),
    ),
}


def own_names(server: MCPServer[Any], method: str) -> set[str]:
    """What a server has by itself now, by what is unique in that list."""
    each = LISTS[method]
    # Async by its type alone; should a subclass really wait in it, its names are compared when they are listed.
    listing = each.theirs(server)
    try:
        listing.send(None)
    except StopIteration as done:
        listed = [entry.model_dump(by_alias=True, mode="json") for entry in done.value]
        return {entry[each.key] for entry in listed}
    finally:
        listing.close()
    return set()


def kinds(toolbox: Toolbox) -> list[str]:
    """Of ``tools``, ``prompts`` and ``resources`` those that a server of this toolbox alone has methods for."""
    filled = {"prompts": toolbox.prompts, "resources": toolbox.resources}
    others = [kind for kind, members in filled.items() if members]
    return ["tools", *others] if toolbox.tools or not others else others


def can_log(toolbox: Toolbox) -> bool:
    """Whether a function of a toolbox can send log messages: those that take a `Context` can."""
    makers = (item.maker for step in toolbox.steps for item in step.inputs.values())
    steps = [*toolbox.steps, *(maker for maker in makers if maker is not None)]
    return any(step.signature.context is not None for step in steps)
