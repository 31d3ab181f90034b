"""`Step`: a function of the author, read once, with the inputs it needs.

Everything that can be wrong with a definition is found here, and every message names the function, the parameter and
the way out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Annotated, Final, cast, get_args, get_origin

from pydantic import JsonValue

from mrtr_tools.annotations import attribute_type, is_call_result, try_format
from mrtr_tools.errors import DefinitionError
from mrtr_tools.forms import Form, FormError, form_for
from mrtr_tools.input_requests import Confirm, Elicit, ElicitUrl, Source
from mrtr_tools.inputs import Condition, Group, Input, all_inputs, asked_schema, pin_of
from mrtr_tools.marks import InputSource, NeedsInput, bridge_of, groups_of, name_of
from mrtr_tools.once import Once, OnCrash
from mrtr_tools.properties import NO_SECRETS
from mrtr_tools.questions import Draft
from mrtr_tools.records import mutable, record
from mrtr_tools.signatures import Carried, Signature, read_signature
from mrtr_tools.task_marks import TaskMark
from mrtr_tools.templates import Field, TemplateError
from mrtr_tools.values import Codec, NotCarriable

__all__ = ["Step", "read_step"]

MAX_OPEN: Final = 32


@record(eq=False)
class Step:
    """A step, or a function that makes an input of one.

    Attributes:
        name: what a state calls it; an input's function goes by its path.
        signature: what it takes.
        carried: the parameters that travel as JSON, by name.
        groups: its inputs, group by group, in the order of asking.
        inputs: all of them by path, with those of the functions that make them.
        aliases: names it had before.
        may_follow: whether `then` may go to it.
        once: that it runs once in a call, whatever is sent again; else None.
        task: that a call which comes to it goes on as a durable task; else None.
        bridge: makes what a body asks with that asks for itself, and runs again in each round; else None.
    """

    name: str
    signature: Signature = field(repr=False)
    carried: Mapping[str, Carried] = field(repr=False)
    groups: tuple[Group, ...] = field(repr=False)
    inputs: Mapping[str, Input] = field(repr=False)
    aliases: tuple[str, ...] = ()
    may_follow: bool = True
    once: Once | None = None
    task: TaskMark | None = None
    bridge: Callable[..., object] | None = None

    @property
    def oldest_name(self) -> str:
        """What every build that knows it can call it by."""
        return self.aliases[0] if self.aliases else self.name

    @property
    def carries_secrets(self) -> bool:
        """Whether a state may hold a secret for it, or for a function that makes one of its inputs."""
        makers = (item.maker for item in self.inputs.values() if item.maker is not None)
        return any(taken.codec.has_secrets for taken in self.carried.values()) or any(m.carries_secrets for m in makers)

    def stands_for(self, function: object) -> bool:
        """Whether the step is this function; a method of another object counts, for it takes the same."""
        own = self.signature.function
        return own == function or getattr(own, "__func__", None) is getattr(function, "__func__", self)

    def hand_on(self, values: Mapping[str, object]) -> dict[str, JsonValue]:
        """The values of a `then` as JSON, checked like the arguments of a call.

        Raises:
            TypeError: one is unknown, missing, of the wrong type, or would not come back from JSON as it is.
        """
        if unknown := [name for name in values if name not in self.carried]:
            raise TypeError(
                f"then({self.name}): it takes no {unknown[0]!r}; it takes {', '.join(self.carried) or 'nothing'}"
            )
        handed: dict[str, JsonValue] = {}
        for name, taken in self.carried.items():
            if name not in values and (name in self.inputs or taken.parameter.required):
                if name not in self.inputs:
                    raise TypeError(f"then({self.name}): {name!r} is missing")
                continue
            try:  # a default travels too, so that another build's does not take its place
                handed[name] = taken.dump(values[name] if name in values else taken.parameter.default())
            except NotCarriable as error:
                raise TypeError(f"then({self.name}): {name!r}: {error}") from error
        return handed


def read_step(
    function: Callable[..., object],
    name: str,
    *,
    aliases: tuple[str, ...] = (),
    may_follow: bool = True,
    single_use: bool = False,
    on_crash: OnCrash | None = None,
    carry_secrets: bool = False,
    task: TaskMark | None = None,
) -> Step:
    """Read a function as a step; the arguments are as in `Toolbox.step`, and `may_follow` as in `Step`.

    Args:
        function: the function.
        name: its name in states.
        aliases: its older names, the oldest first.
        may_follow: whether `then` may go to it.
        single_use: whether it runs once in a call.
        on_crash: see `Once`; None for its default.
        task: see `Step`.

    Raises:
        DefinitionError: it cannot be one.
    """
    signature = read_signature(function)
    if not isinstance(cast("object", carry_secrets), bool):
        raise DefinitionError(f"{name}: carry_secrets= is True or False")
    carried = {each: signature.carried(each, carry_secrets=carry_secrets) for each in signature.parameters}
    bridge = _bridge(signature, single_use=single_use)
    reader = _Reader(signature, carried, (name, *aliases), carry_secrets=carry_secrets)
    groups = reader.groups(frozenset(carried))
    once = _once(signature, name, aliases, single_use, on_crash)
    return Step(name, signature, carried, groups, all_inputs(groups), aliases, may_follow, once, task, bridge)


def _bridge(signature: Signature, *, single_use: bool) -> Callable[..., object] | None:
    """What makes the context of a `resumable`, or None for any other function.

    Raises:
        DefinitionError: it cannot be one.
    """
    function, where = signature.function, signature.where
    bridge = bridge_of(function)
    if bridge is None:
        return None
    if not signature.is_async:
        raise DefinitionError(f"{where} is resumable and not async; write: async def, and await each ctx.elicit(...)")
    if signature.context is None:
        raise DefinitionError(f"{where} is resumable and takes no context to ask with; add: ctx: Context")
    if groups_of(function):
        raise DefinitionError(f"{where} has @needs_input and @resumable; ask all in one way, or go on with then()")
    if single_use:
        raise DefinitionError(
            f"{where} runs again in each round, so single_use=True cannot be; move what acts into an @toolbox.step "
            "with it, and end with: return then(...)"
        )
    return bridge


def _once(
    signature: Signature, name: str, aliases: tuple[str, ...], single_use: object, on_crash: object
) -> Once | None:
    if single_use is not True and single_use is not False:
        raise DefinitionError(f"{signature.where}: single_use= is True or False")
    if on_crash not in (None, *get_args(OnCrash)) or (on_crash and not single_use):
        raise DefinitionError(f'{signature.where}: on_crash= is "refuse" or "rerun", and goes with single_use=True')
    if not single_use:
        return None
    if signature.returns is inspect.Signature.empty:
        raise DefinitionError(f"{signature.where}: single_use=True keeps what it returns; annotate that: -> str")
    returns = signature.returns
    if get_origin(returns) is Annotated and is_call_result(get_args(returns)[0]):
        returns = get_args(returns)[0]  # beside it stands what is in it
    try:
        result = Codec(returns, carry_secrets=True)
    except NotCarriable as error:
        raise DefinitionError(f"{signature.where}: single_use=True keeps what it returns, but {error}") from error
    if result.has_secrets:
        raise DefinitionError(f"{signature.where}: a result holds no secret, for it is shown; return what it was for")
    return Once(aliases[0] if aliases else name, result, cast("OnCrash | None", on_crash) or "refuse")


@mutable(eq=False)
class _Reader:
    """Reads the groups of one function: a step, or a function that makes an input."""

    signature: Signature
    carried: Mapping[str, Carried]
    step_names: tuple[str, ...]
    prefix: str = ""
    around: tuple[Callable[..., object], ...] = ()
    carry_secrets: bool = False

    def groups(self, parameters: frozenset[str]) -> tuple[Group, ...]:
        """The groups, read in the order of asking; each may name what is known by then."""
        marked = groups_of(self.signature.function)
        names = [name for group in marked for name in group.inputs]
        if twice := {name for name in names if names.count(name) > 1}:
            raise self._wrong(min(twice), "is asked for twice; give each input one decorator")
        known = parameters - set(names)
        groups: list[Group] = []
        for group in marked:
            groups.append(self._group(group, known))
            known |= {name for name in group.inputs if name in self.signature.parameters}
        return tuple(groups)

    def _group(self, group: NeedsInput, known: frozenset[str]) -> Group:
        condition = self._condition(group, known)
        inputs = tuple(self._input(name, source, known, condition) for name, source in group.inputs.items())
        read = Group(inputs, condition)
        if read.most_open > MAX_OPEN:
            raise DefinitionError(
                f"{self.signature.where}: a group asks for at most {MAX_OPEN} inputs; stack a second one"
            )
        return read

    def _condition(self, group: NeedsInput, known: frozenset[str]) -> Condition | None:
        if group.only_if is None:
            return None
        condition = read_signature(group.only_if)
        if condition.is_async or condition.context:
            inputs = ", ".join(group.inputs)
            raise DefinitionError(f"{self.signature.where}: only_if= of {inputs} is no pure function of values")
        names = tuple(condition.parameters)
        if unknown := [name for name in names if name not in known]:
            raise self._unknown("only_if= of " + ", ".join(group.inputs), unknown[0], known)
        return Condition(group.only_if, names)

    def _input(self, name: str, source: InputSource, known: frozenset[str], condition: Condition | None) -> Input:
        taken = self.carried.get(name)
        asked = Elicit(source) if isinstance(source, str) else source if isinstance(source, Source) else None
        self._check_parameter(
            name, taken, gate=isinstance(asked, (Confirm, ElicitUrl)), conditional=condition is not None
        )
        path, uses = self.prefix + name, set(condition.names if condition else ())
        form = self._form(name, source, conditional=condition is not None)
        draft, maker = None, None
        if asked is not None:
            draft = self._draft(name, asked, form, known)
            pins = self._pins(path, *draft.definition)
            uses.update(place.name for template in draft.templates.values() for place in template.fields)
        else:
            maker = self._maker(name, cast("Callable[..., object]", source), known)
            pins = self._pins(path, "function", name_of(source), self._shape(name, form))
        given = known.intersection(maker.signature.parameters).difference(maker.carried) if maker else frozenset[str]()
        return Input(name, path, taken, draft, maker, form, pins, given.union(uses), given)

    def _shape(self, name: str, form: Form | None) -> JsonValue:
        """What the value of an input looks like: its form, or the JSON that it travels as."""
        return (form.schema if form else None) or self.carried[name].codec.shape()

    def _pins(self, path: str, *definition: object) -> tuple[str, ...]:
        """What tells whether an input is the same: a digest for the name of the step, and one for each older name."""
        return tuple(pin_of([step, path, *definition]) for step in self.step_names)

    def _check_parameter(self, name: str, taken: Carried | None, *, gate: bool, conditional: bool) -> None:
        if name == self.signature.context:
            raise self._wrong(name, "is the Context, which nobody can be asked for")
        if taken is None and gate:
            return
        if taken is None and name in getattr(self.signature.function, "keywords", {}):
            raise self._wrong(name, "is bound by the partial already; take it from one of the two")
        if taken is None:
            raise self._wrong(name, f"is no parameter; add one ({name}: str), or ask with confirm(...)")
        if conditional and (taken.parameter.required or taken.parameter.field.default_factory is not None):
            raise self._wrong(
                name, f"needs a default, and no factory, for when only_if= says no: {name}: ... | None = None"
            )

    def _form(self, name: str, source: InputSource, *, conditional: bool) -> Form | None:
        """The form of the parameter; None when it is asked for otherwise, or when its function must make the value."""
        if isinstance(source, Source) and not isinstance(source, Elicit):
            return None
        taken = self.carried[name]
        parameter, codec, is_fixed = taken.parameter, taken.codec, isinstance(source, (str, Elicit))
        if is_fixed and codec.has_secrets:
            raise self._wrong(name, f"cannot be asked: {NO_SECRETS}, or have a function make it")
        at_run_time = not isinstance(source, str)
        try:
            return form_for(
                parameter.annotation,
                name,
                field=parameter.field,
                must_answer=conditional,
                at_run_time=at_run_time,
                adapter=None if codec.has_secrets else codec.adapter,
            )
        except FormError as error:
            if is_fixed:
                raise self._wrong(name, f"cannot be asked: {error}") from error
            return None

    def _draft(self, name: str, source: Source, form: Form | None, known: frozenset[str]) -> Draft:
        taken = self.carried.get(name)
        property_name = taken.parameter.wire_name if taken else name
        try:
            draft = Draft.of(source, asked_schema(source, taken, form, property_name))
        except TemplateError as error:
            raise self._wrong(name, f"has a text that is no template: {error}") from error
        except FormError as error:
            raise self._wrong(name, f"cannot be asked: {error}") from error
        for place in (place for template in draft.templates.values() for place in template.fields):
            if place.name == self.signature.context and place.attributes == ("handle",):
                continue
            if place.name == self.signature.context:
                raise self._wrong(name, f"may name nothing of the Context but {{{place.name}.handle}}")
            if place.name not in known:
                raise self._unknown(f"the text of {name!r}", place.name, known)
            self._check_place(name, place)
        return draft

    def _check_place(self, name: str, place: Field) -> None:
        """Whether a field of a template can be filled, as far as annotations tell."""
        kind = self.signature.parameters[place.name].annotation
        try:
            for attribute in place.attributes:
                kind = attribute_type(kind, attribute)
            try_format(kind, place.spec)
        except TemplateError as error:
            told = ".".join([place.name, *place.attributes])
            raise self._wrong(name, f"has {{{told}}} in its text, but {error}") from error

    def _maker(self, name: str, function: Callable[..., object], known: frozenset[str]) -> Step:
        if function in self.around:
            raise self._wrong(name, f"is made by {name_of(function)}, which asks for itself")
        if bridge_of(function) is not None:
            raise self._wrong(
                name, f"is made by {name_of(function)}, which is resumable; only tools and steps are that"
            )
        signature = read_signature(function)
        marked = {key for group in groups_of(function) for key in group.inputs}
        own = {key for key in signature.parameters if key in marked}
        for key, parameter in signature.parameters.items():
            if key not in own and key not in known and parameter.required:
                raise self._unknown(f"the function of {name!r}, {signature.where},", key, known)
        carried = {key: signature.carried(key, carry_secrets=self.carry_secrets) for key in own}
        served = frozenset(key for key in signature.parameters if key in known) | own
        around = (*self.around, function)
        inner = _Reader(signature, carried, self.step_names, f"{self.prefix}{name}.", around, self.carry_secrets)
        groups = inner.groups(served)
        return Step(self.prefix + name, signature, carried, groups, all_inputs(groups), may_follow=False)

    def _wrong(self, name: str, trouble: str) -> DefinitionError:
        return DefinitionError(f"{self.signature.where}: input {self.prefix + name!r} {trouble}")

    def _unknown(self, what: str, name: str, known: frozenset[str]) -> DefinitionError:
        late = "is asked later or together with it" if name in self.signature.parameters else "is no parameter"
        by_then = ", ".join(sorted(known)) or "nothing"
        return DefinitionError(f"{self.signature.where}: {what} names {name!r}, which {late}; known by then: {by_then}")
