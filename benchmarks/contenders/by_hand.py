"""The tools for servers that know no steps: each round finds out from the state and the answers where the call is."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from benchmarks.contenders import texts

Contents = Mapping[str, Mapping[str, Any]]
"""The content of each answer that was accepted."""
State = Mapping[str, Any]

OUTPUT_SCHEMA = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}


class Question(NamedTuple):
    """What to ask, and the state of the call meanwhile."""

    key: str
    message: str
    form: dict[str, Any]
    state: State


class WeatherArguments(BaseModel):
    location: str


class WorkItemArguments(BaseModel):
    work_item: int
    state: str


class Login(BaseModel):
    name: str = Field(min_length=1)


class Resolution(BaseModel):
    resolution: Literal["Fixed", "Duplicate"]


class Original(BaseModel):
    original: int


def _form(name: str, **schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}, "required": [name]}


LOGIN_FORM = _form("name", type="string")
RESOLUTION_FORM = _form("resolution", type="string", enum=["Fixed", "Duplicate"])
ORIGINAL_FORM = _form("original", type="integer")


def get_weather(location: str, state: State, contents: Contents) -> str | Question:
    if state.get("asked") != "login" or "login" not in contents:
        return Question("login", texts.LOGIN, LOGIN_FORM, {"asked": "login"})
    return texts.weather(location, Login.model_validate(contents["login"]).name)


def update_work_item(work_item: int, to: str, state: State, contents: Contents) -> str | Question:
    asked = state.get("asked")
    if "resolution" in state:
        resolution = state["resolution"]
    elif asked == "resolution" and "resolution" in contents:
        resolution = Resolution.model_validate(contents["resolution"]).resolution
    else:
        message = texts.RESOLUTION.format(work_item=work_item)
        return Question("resolution", message, RESOLUTION_FORM, {"asked": "resolution"})
    if resolution != "Duplicate":
        return texts.work_item_done(work_item, to, resolution, None)
    if asked != "original" or "original" not in contents:
        return Question("original", texts.ORIGINAL, ORIGINAL_FORM, {"asked": "original", "resolution": resolution})
    original = Original.model_validate(contents["original"]).original
    return texts.work_item_done(work_item, to, resolution, original)
