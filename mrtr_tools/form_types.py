"""The types of forms with several fields: what their fields are, and what they ask for beyond what a form can say."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from typing import Any, Literal, NotRequired, Required, cast, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mrtr_tools.choices import FormError
from mrtr_tools.properties import Property, class_of, is_typed_dict, read_type

__all__ = ["default_fields", "fields_of", "has_own_rules", "is_told", "preset"]


def fields_of(kind: object) -> Mapping[str, FieldInfo] | None:
    """The fields of a model, dataclass or TypedDict; None for a type that has none."""
    found = class_of(kind)
    if found is None:
        return None
    if issubclass(found, BaseModel):
        return None if found.__pydantic_root_model__ else found.model_fields
    if not dataclasses.is_dataclass(found) and not is_typed_dict(found):
        return None
    try:
        hints = get_type_hints(found, include_extras=True)
    except NameError as error:
        raise FormError(
            f"{found.__name__}: {error.name!r} is not known where it is defined; import it there"
        ) from error
    if dataclasses.is_dataclass(found):
        own = {item.name: _dataclass_default(item) for item in dataclasses.fields(found) if item.init}
        return {name: FieldInfo.from_annotated_attribute(hints[name], item) for name, item in own.items()}
    required = cast("frozenset[str]", cast("Any", found).__required_keys__)
    return {name: _key(hint, required=name in required) for name, hint in hints.items()}


def _dataclass_default(item: dataclasses.Field[Any]) -> Any:
    """What pydantic reads a default from: the field, or the `Field(...)` that its author gave as default."""
    return item.default if isinstance(item.default, FieldInfo) else item


def _key(hint: object, *, required: bool) -> FieldInfo:
    """The field of one key of a TypedDict."""
    origin = get_origin(hint)
    if origin is Required or origin is NotRequired:
        hint, required = get_args(hint)[0], origin is Required
    info = FieldInfo.from_annotation(cast("Any", hint))
    if not required:
        info.default = None  # says that it may be left out; the key then stays away
    return info


def has_own_rules(form: object) -> bool:
    """Whether a form does more than hold its fields."""
    decorated = getattr(form, "__pydantic_decorators__", None)
    validators = decorated is not None and bool(decorated.field_validators or decorated.model_validators)
    config = cast("dict[str, object]", getattr(form, "model_config", getattr(form, "__pydantic_config__", {})))
    changes_text = any(key.startswith("str_") for key in config)
    plain: object = form
    own_init = isinstance(form, type) and issubclass(form, BaseModel) and form.__init__ is not BaseModel.__init__
    after = getattr(plain, "model_post_init", None)
    own_after = hasattr(plain, "__post_init__") or (after is not None and after is not BaseModel.model_post_init)
    return validators or changes_text or own_init or own_after


def is_told(name: str, info: FieldInfo) -> bool:
    """Whether the schema says all that a field asks for: another machine has nothing else to hold an answer against."""
    kind, notes, _ = read_type(name, info.annotation, info.metadata)
    inner = read_type(name, get_args(kind)[0])[1] if get_origin(kind) is list else []
    bounds = (Ge, Le, Gt, Lt) if kind is int else (Ge, Le) if kind is float else ()
    plain = kind in (str, int, float, bool, date, datetime) or get_origin(kind) in (Literal, list) or _is_enum(kind)
    told = all(isinstance(note, (FieldInfo, MinLen, MaxLen, *bounds)) for note in notes)
    return plain and told and all(isinstance(note, FieldInfo) for note in inner)


def _is_enum(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def preset(default: object, name: str, info: FieldInfo) -> FieldInfo:
    """A field with the default that the parameter's own default gives it."""
    fields = _of(default)
    if name not in fields:
        return info
    own = copy.copy(info)
    own.default, own.default_factory = fields[name], None
    return own


def default_fields(default: object, properties: Sequence[Property]) -> dict[str, object]:
    """The fields of the parameter's default that are shown, by the names of the fields."""
    fields = _of(default)
    return {item.field: fields[item.field] for item in properties if item.field in fields}


def _of(value: object) -> dict[str, object]:
    """The fields of a value of a form's type."""
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in type(value).model_fields}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    return {}
