"""A function's signature, read once, at definition."""

from __future__ import annotations

import copy
import functools
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Annotated, Any, Self, cast, get_args, get_type_hints

from pydantic import JsonValue
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from mrtr_tools.annotations import is_bridge_context, without_refused
from mrtr_tools.context import Context
from mrtr_tools.errors import DefinitionError
from mrtr_tools.marks import Refused, bridge_of, name_of
from mrtr_tools.records import record
from mrtr_tools.values import Codec, NotCarriable

__all__ = ["Carried", "Parameter", "Signature", "read_signature"]


@record(eq=False)
class Parameter:
    """One parameter of a function.

    Attributes:
        name: its name in Python.
        annotation: its annotation without `Refused`; None when it has none.
        field: what pydantic's `Field` says of it: alias, title, description, default.
        admits_refused: whether the annotation admits `Refused`.
    """

    name: str
    annotation: object
    field: FieldInfo
    admits_refused: bool

    @property
    def wire_name(self) -> str:
        """Its name on the wire: the alias, or the name itself."""
        return self.field.alias or self.name

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.field.is_required()

    def default(self) -> object:
        """A default of its own for each use, so that no two calls share it."""
        if self.required:
            raise TypeError(f"{self.name} has no default")
        if self.field.default_factory is not None:
            return cast("Callable[[], object]", self.field.default_factory)()
        return copy.deepcopy(cast("object", self.field.default))


@record(eq=False)
class Carried:
    """A parameter whose values travel as JSON."""

    parameter: Parameter
    codec: Codec = field(repr=False)

    def dump(self, value: object) -> JsonValue:
        """The value as JSON; where `Refused` is admitted, in a list that tells the two apart.

        Raises:
            NotCarriable: it does not fit, or would not come back as it is.
        """
        if not self.parameter.admits_refused:
            return self.codec.dump(value)
        return [None, value.action] if isinstance(value, Refused) else [self.codec.dump(value)]

    def digest(self, value: object) -> str:
        """A digest that is the same for equal values, in every process of one build."""
        return value.action if isinstance(value, Refused) else self.codec.digest(value)

    def load(self, data: JsonValue) -> object:
        """The value again.

        Raises:
            ValueError: it no longer fits.
        """
        if not self.parameter.admits_refused:
            return self.codec.load(data)
        match data:
            case [value]:
                return self.codec.load(value)
            case [None, "decline" | "cancel" | "unsupported" as action]:
                return Refused(action)
            case _:
                raise ValueError("not a value that may be refused")


@record(eq=False)
class Signature:
    """What a function takes and returns.

    Attributes:
        function: the function as the author gave it.
        plain: the function itself, under partials, methods and wrappers.
        where: how messages call it.
        parameters: what it takes, without its `Context`.
        context: the name of the parameter that takes the `Context`, or None.
        returns: its return annotation, or `inspect.Signature.empty`.
        is_async: whether calling it gives a coroutine.
    """

    function: Callable[..., object]
    plain: types.FunctionType
    where: str
    parameters: Mapping[str, Parameter]
    context: str | None
    returns: object
    is_async: bool

    def carried(self, name: str, *, carry_secrets: bool = False) -> Carried:
        """The parameter with its way into JSON.

        Args:
            name: its name.
            carry_secrets: whether secrets may go that way.

        Raises:
            DefinitionError: it has no annotation, or one that JSON cannot bring back.
        """
        parameter = self.parameters[name]
        if parameter.annotation is None:
            raise DefinitionError(f"{self.where}: parameter {name!r} has no annotation; say what it is: {name}: str")
        try:
            carried = Carried(parameter, Codec(parameter.annotation, carry_secrets=carry_secrets))
        except NotCarriable as error:
            raise DefinitionError(f"{self.where}: parameter {name!r}: {error}") from error
        if not parameter.required and parameter.field.default_factory is None:
            self._check_default(carried)
        return carried

    def _check_default(self, carried: Carried) -> None:
        name, default = carried.parameter.name, carried.parameter.default()
        try:
            carried.dump(default)
        except NotCarriable as error:
            told = "" if carried.codec.has_secrets else f" {default!r}"
            trouble = f"its default{told} is none of its values: {error}"
            raise DefinitionError(
                f"{self.where}: parameter {name!r}: {trouble}; for None write {name}: ... | None = None"
            ) from error


def read_signature(function: Callable[..., object]) -> Signature:
    """Read what a function takes.

    Raises:
        DefinitionError: it is no function, or takes something that cannot be passed by name.
    """
    where = name_of(function)
    if isinstance(function, classmethod):
        raise DefinitionError(f"{where} is a class method of no class yet; register it bound: toolbox.step(Shop.pay)")
    plain = _plain(function)
    if not isinstance(plain, types.FunctionType) or hasattr(function, "dispatch"):
        raise DefinitionError(f"{where} is not a function or method; give the function it stands for")
    if inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
        raise DefinitionError(f"{where} is a generator; return one value, and hand on with then() what remains")
    bound = cast("dict[str, object]", getattr(function, "keywords", {}))
    hints = _hints(plain, where)
    parameters: dict[str, Parameter] = {}
    contexts: list[str] = []
    is_context = _is_context if bridge_of(function) is None else _is_bridged
    for name, raw in inspect.signature(function).parameters.items():
        if name in bound:
            continue
        _refuse_kinds(where, raw)
        if is_context(where, name, hints.get(name)):
            contexts.append(name)
        else:
            parameters[name] = _parameter(where, raw, hints.get(name))
    if len(contexts) > 1:
        raise DefinitionError(f"{where}: parameters {' and '.join(contexts)} both take the Context; one is enough")
    context = contexts[0] if contexts else None
    returns = hints.get("return", inspect.Signature.empty)
    return Signature(function, plain, where, parameters, context, returns, _is_async(function, plain))


def _is_context(where: str, name: str, hint: object) -> bool:
    """Whether a parameter takes the `Context`: ``ctx: Context``, or ``ctx: Context | None = None``."""
    parts = [part for part in get_args(hint) if part is not type(None)]
    if hint is Context or parts == [Context]:
        return True
    if is_bridge_context(hint):
        raise DefinitionError(
            f"{where}: parameter {name!r} takes the Context of tools that ask in their body; put @resumable (of "
            "mrtr_tools.porting) below @toolbox.tool, or take the one of mrtr_tools"
        )
    if Context in parts:
        raise DefinitionError(
            f"{where}: parameter {name!r} takes the Context and something else; write: {name}: Context"
        )
    return False


def _is_bridged(where: str, name: str, hint: object) -> bool:
    """Whether a parameter of a `resumable` takes its context; without an annotation, one called ``ctx`` does."""
    if hint is Context:
        raise DefinitionError(
            f"{where}: with @resumable, {name!r} takes the Context of mrtr_tools.porting; import that"
        )
    return is_bridge_context(hint) or (hint is None and name == "ctx")


def _plain(function: object) -> object:
    """The function itself, under partials, methods and wrappers that say what they wrap."""
    while True:
        if isinstance(function, functools.partial):
            function = cast("object", function.func)
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = cast("Any", function).__wrapped__
        else:
            return function


def _is_async(function: Callable[..., object], plain: types.FunctionType) -> bool:
    wrapper = cast("object", function.func if isinstance(function, functools.partial) else function)
    return inspect.iscoroutinefunction(wrapper) or (wrapper is not plain and inspect.iscoroutinefunction(plain))


def _hints(plain: types.FunctionType, where: str) -> dict[str, object]:
    try:
        return get_type_hints(plain, include_extras=True)
    except NameError as error:
        raise DefinitionError(
            f"{where}: the annotation {error.name!r} is not known where the function was defined; define or import it "
            "at module level, and not under TYPE_CHECKING"
        ) from error
    except Exception as error:
        raise DefinitionError(f"{where}: its annotations cannot be read: {error}") from error


def _refuse_kinds(where: str, raw: inspect.Parameter) -> None:
    if raw.kind in (raw.VAR_POSITIONAL, raw.VAR_KEYWORD):
        raise DefinitionError(
            f"{where}: parameter {raw} takes anything, so nobody can say what it needs; name each parameter "
            "(a wrapper needs functools.wraps to show those of the function it wraps)"
        )
    if raw.kind is raw.POSITIONAL_ONLY:
        raise DefinitionError(
            f"{where}: parameter {raw.name!r} is positional only; steps are called by name: take the / away"
        )
    if raw.name in ("self", "cls") and raw.annotation in (raw.empty, Self, "Self"):
        raise DefinitionError(f"{where} is a method of no object yet; register it bound: toolbox.step(shop.pay)")


def _parameter(where: str, raw: inspect.Parameter, hint: object) -> Parameter:
    if hint is None:
        return Parameter(raw.name, None, FieldInfo(default=_default(raw)), admits_refused=False)
    annotation, admits_refused = without_refused(hint)
    if annotation is None:
        raise DefinitionError(
            f"{where}: parameter {raw.name!r} admits nothing but Refused; write: {raw.name}: str | Refused"
        )
    try:
        field_info = (
            FieldInfo.from_annotation(cast("Any", annotation))
            if raw.default is raw.empty
            else FieldInfo.from_annotated_attribute(cast("Any", annotation), raw.default)
        )
    except (PydanticUserError, TypeError) as error:
        raise DefinitionError(f"{where}: parameter {raw.name!r}: {error}") from error
    if field_info.validation_alias not in (None, field_info.alias):
        raise DefinitionError(
            f"{where}: parameter {raw.name!r} has a validation_alias; its name on the wire is Field(alias=...)"
        )
    if isinstance(raw.default, FieldInfo) and field_info.metadata:
        annotation = cast("Any", Annotated)[(field_info.annotation, *field_info.metadata)]
    return Parameter(raw.name, annotation, field_info, admits_refused)


def _default(raw: inspect.Parameter) -> object:
    return PydanticUndefined if raw.default is raw.empty else raw.default
