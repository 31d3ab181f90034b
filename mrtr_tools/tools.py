"""`Toolbox`: where an author puts tools, prompts, resources and the steps they go on with.

Everything that can be computed when a tool is defined is computed here: the signature plan, the forms, the schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, overload

from pydantic import JsonValue

from mrtr_tools.carriers import (
    Carrier,
    Prompt,
    Resource,
    Tool,
    UriTemplate,
    arguments_of,
    arguments_of_uri,
    described,
    texts_only,
)
from mrtr_tools.errors import DefinitionError, InvalidParams
from mrtr_tools.marks import name_of
from mrtr_tools.once import OnCrash
from mrtr_tools.registry import Registry
from mrtr_tools.results import output_of
from mrtr_tools.steps import read_step
from mrtr_tools.task_marks import TaskUse, read_task_mark

__all__ = ["Toolbox"]

F = TypeVar("F", bound=Callable[..., object])


class Toolbox:
    """A set of tools, and the steps they go on with.

    Args:
        name: names the server, and keeps the states of different servers apart.
        title: a name for people.
        version: the server's version, as it tells its clients.
        instructions: what a model should know about these tools.
    """

    def __init__(
        self, name: str, *, title: str | None = None, version: str | None = None, instructions: str | None = None
    ) -> None:
        if not name or not name.isprintable():
            raise DefinitionError('a toolbox needs a name: Toolbox("weather")')
        self.name = name
        self.title = title
        self.version = version
        self.instructions = instructions
        self._tools: dict[str, Tool] = {}
        self._prompts: dict[str, Prompt] = {}
        self._resources: dict[str, Resource] = {}
        self._steps = Registry(repr(self))

    def __repr__(self) -> str:
        return f"Toolbox({self.name!r})"

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by name, in the order of definition."""
        return MappingProxyType(self._tools)

    @property
    def prompts(self) -> Mapping[str, Prompt]:
        """The prompts by name, in the order of definition."""
        return MappingProxyType(self._prompts)

    @property
    def resources(self) -> Mapping[str, Resource]:
        """The resources by URI or URI template, in the order of definition."""
        return MappingProxyType(self._resources)

    @property
    def steps(self) -> Registry:
        """Every step, and the first steps of tools, prompts and resources."""
        return self._steps

    @overload
    def tool(self, function: F, /, *, name: str | None = None) -> F: ...
    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Mapping[str, JsonValue] | None = None,
        cold_answers: bool = False,
        max_rounds: int = 10,
        version: int = 0,
        single_use: bool = False,
        on_crash: OnCrash | None = None,
        ttl: float | None = None,
        task: TaskUse | None = None,
        task_ttl: float | None = None,
        carry_secrets: bool = False,
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: Callable[..., object] | None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Mapping[str, JsonValue] | None = None,
        cold_answers: bool = False,
        max_rounds: int = 10,
        version: int = 0,
        single_use: bool = False,
        on_crash: OnCrash | None = None,
        ttl: float | None = None,
        task: TaskUse | None = None,
        task_ttl: float | None = None,
        carry_secrets: bool = False,
    ) -> Any:
        """Make a function a tool; it stays callable as it is.

        Args:
            function: the function; left out when the decorator is called with options.
            name: its name on the wire, by default the function's.
            title: a name for people.
            description: by default the function's docstring.
            annotations: the protocol's `ToolAnnotations`, such as ``{"destructiveHint": True}``.
            cold_answers: take answers to the tool's own fixed form questions in a call that came without state; never
                to a confirm. Any model can then answer in a person's place.
            max_rounds: how often a call may ask; clients stop at about 10.
            version: raise it when a change must not be jumped over, such as a new check before an effect: calls that
                are under way begin anew, or end with an error once a step has run.
            single_use: run the function once in a call, as in `step`, and play each round of the call once: a state
                that is sent again with the same answers gets the same reply, and with other answers an error.
            on_crash: as in `step`.
            ttl: seconds that a state lives, and so a person may take to answer; by default those of the server.
            task: once its inputs are there, a call goes on as a durable task, whose client polls for it: when the
                client knows tasks (``"optional"``), or for no other client (``"required"``); that one is then refused
                before anything is asked or runs, while a step that is reached by `then` refuses it only there.
            task_ttl: seconds that a task is kept, from its beginning on; by default a day.
            carry_secrets: let parameters be secrets of pydantic (`SecretStr`, `SecretBytes`, `Secret`, also inside of
                models): what is handed on, what an input's function made, and defaults then travel whole in the state,
                through the client, sealed. Somebody who recorded it can read them once a key has leaked.

        Raises:
            DefinitionError: the function cannot be a tool; the text names the parameter and the way out.
        """

        def define(function: F) -> F:
            tool_name = self._steps.new_name(function, name)
            step = read_step(
                function,
                tool_name,
                may_follow=False,
                carry_secrets=carry_secrets,
                single_use=single_use,
                on_crash=on_crash,
                task=read_task_mark(tool_name, task, task_ttl),
            )
            self._tools[tool_name] = Tool(
                name=tool_name,
                title=title,
                description=described(step, description),
                annotations=annotations,
                step=step,
                arguments=arguments_of(step),
                output=output_of(step.signature.returns),
                cold_answers=cold_answers,
                max_rounds=max_rounds,
                version=version,
                single_use=single_use,
                ttl=ttl,
            )
            self._steps.add(step, function)
            return function

        return define if function is None else define(function)

    @overload
    def prompt(self, function: F, /, *, name: str | None = None) -> F: ...
    @overload
    def prompt(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        max_rounds: int = 10,
        version: int = 0,
        ttl: float | None = None,
        carry_secrets: bool = False,
    ) -> Callable[[F], F]: ...
    def prompt(
        self,
        function: Callable[..., object] | None = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        max_rounds: int = 10,
        version: int = 0,
        ttl: float | None = None,
        carry_secrets: bool = False,
    ) -> Any:
        """Make a function a prompt; the options are those of `tool`.

        It returns the text of one message, or messages: texts of the user, or ``{"role": ..., "content": ...}``.

        Raises:
            DefinitionError: the function cannot be a prompt.
        """

        def define(function: F) -> F:
            chosen = self._steps.new_name(function, name)
            step = read_step(function, chosen, may_follow=False, carry_secrets=carry_secrets)
            self._prompts[chosen] = Prompt(
                name=chosen,
                title=title,
                description=described(step, description),
                step=step,
                arguments=texts_only(step, arguments_of(step)),
                max_rounds=max_rounds,
                version=version,
                ttl=ttl,
            )
            self._steps.add(step, function)
            return function

        return define if function is None else define(function)

    def resource(
        self,
        uri: str,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        max_rounds: int = 10,
        version: int = 0,
        ttl: float | None = None,
        carry_secrets: bool = False,
    ) -> Callable[[F], F]:
        """Make a function a resource, or with ``{name}`` in its URI all that the template stands for.

        It returns text, bytes, or anything else that becomes JSON.

        Args:
            uri: such as ``notes://{name}``; every ``{name}`` is a parameter of the function.
            name: its name on the wire, by default the function's.
            title: a name for people.
            description: by default the function's docstring.
            mime_type: what it holds; by default it goes by what is returned.
            max_rounds: as for `tool`.
            version: as for `tool`.
            ttl: as for `tool`; it says nothing of how long a client may keep what it read.
            carry_secrets: as for `tool`.

        Raises:
            DefinitionError: the function cannot be a resource, or the URI is taken or does not go with its parameters.
        """
        template = UriTemplate(uri)

        def define(function: F) -> F:
            chosen = self._steps.new_name(function, name)
            taken = [each.name for each in self._resources.values() if each.uri.shape == template.shape]
            if taken:
                raise DefinitionError(f"{name_of(function)}: the URI {uri!r} is taken by {taken[0]}; give it another")
            step = read_step(function, chosen, may_follow=False, carry_secrets=carry_secrets)
            self._resources[uri] = Resource(
                name=chosen,
                title=title,
                description=described(step, description),
                step=step,
                arguments=arguments_of_uri(step, template),
                max_rounds=max_rounds,
                version=version,
                ttl=ttl,
                uri=template,
                mime_type=mime_type,
            )
            self._steps.add(step, function)
            return function

        return define

    @overload
    def step(
        self, function: F, /, *, name: str | None = None, aliases: tuple[str, ...] = (), carry_secrets: bool = False
    ) -> F: ...
    @overload
    def step(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        aliases: tuple[str, ...] = (),
        single_use: bool = False,
        on_crash: OnCrash | None = None,
        task: TaskUse | None = None,
        task_ttl: float | None = None,
        carry_secrets: bool = False,
    ) -> Callable[[F], F]: ...
    def step(
        self,
        function: Callable[..., object] | None = None,
        /,
        *,
        name: str | None = None,
        aliases: tuple[str, ...] = (),
        single_use: bool = False,
        on_crash: OnCrash | None = None,
        task: TaskUse | None = None,
        task_ttl: float | None = None,
        carry_secrets: bool = False,
    ) -> Any:
        """Make a function a step that `then` may go to; it stays callable as it is.

        Args:
            function: the function; a method is registered bound: ``toolbox.step(shop.pay)``.
            name: what states call it, by default the function's name; a partial needs one.
            aliases: names it had before, so that calls under way find it, for as long as such a call may live; while an
                upgrade is rolled out, also the name that it will have. For a step of single use older names alone, the
                oldest first, for its claims go by that.
            carry_secrets: as for `tool`.
            single_use: run it once for each time that a call comes to it by `then`, whatever its client sends again.
                The same request, or another one with the same values and answers, gets what the step left; one that
                comes while it runs an error that says to try again; one with others an error. `AskAgain` gives it
                free. It is not cancelled when its client goes away. What it returns must be annotated and come back
                from JSON as it is, for it is kept, sealed, as long as the call can last. A call that comes to it in its
                first request is handed back once, without a question: before, there is nothing to tell a repeat by.
            on_crash: when its process ends inside it: ``"refuse"`` (at most once: nobody knows whether it acted, and
                the call is over) or ``"rerun"`` (at least once, with the same idempotency key).

        Raises:
            DefinitionError: the function cannot be a step, or a name is taken.
        """

        def define(function: F) -> F:
            step_name = self._steps.new_name(function, name)
            self._steps.check_aliases(step_name, aliases)
            step = read_step(
                function,
                step_name,
                aliases=tuple(aliases),
                carry_secrets=carry_secrets,
                single_use=single_use,
                on_crash=on_crash,
                task=read_task_mark(step_name, task, task_ttl),
            )
            self._steps.add(step, function)
            return function

        return define if function is None else define(function)

    def find(
        self, method: str, target: str, arguments: Mapping[str, JsonValue]
    ) -> tuple[Carrier, Mapping[str, JsonValue]]:
        """What a request calls, and the arguments it calls it with.

        Args:
            method: ``tools/call``, ``prompts/get`` or ``resources/read``.
            target: the name, or the URI.
            arguments: what was sent; a resource takes them from its URI.

        Raises:
            InvalidParams: there is no such thing here.
        """
        if method == "resources/read":
            fixed = self._resources.get(target)
            for resource in [fixed] if fixed is not None else self._resources.values():
                if (found := resource.uri.match(target)) is not None:
                    return resource, found
            raise InvalidParams("Unknown resource", {"uri": target})
        carriers: Mapping[str, Carrier] = self._prompts if method == "prompts/get" else self._tools
        if target not in carriers:
            raise InvalidParams("Unknown prompt" if method == "prompts/get" else "Unknown tool")
        return carriers[target], arguments
