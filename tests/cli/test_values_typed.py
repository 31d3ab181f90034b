"""What KEY=VALUE means; nothing is started here."""

import pytest

from mrtr_tools.cli.exits import Stop
from mrtr_tools.cli.given import Given
from mrtr_tools.cli.pairs import arguments_of, split_pairs, value_of
from mrtr_tools.cli.questions import Question

COLOURS = {"$defs": {"Colour": {"enum": ["4", "red"], "type": "string"}, "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}]}}}


@pytest.mark.parametrize(
    ("text", "spec", "value"),
    [
        ("4522", {"type": "integer"}, 4522),
        ("4522", {"type": "string"}, "4522"),
        ("4522", {"anyOf": [{"type": "string"}, {"type": "null"}]}, "4522"),
        ("4522", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 4522),
        ("null", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ("4", {"$ref": "#/$defs/Colour"}, "4"),
        ("4", {"$ref": "#/$defs/Loop"}, 4),
        ("4", {"$ref": "#/$defs/Nowhere"}, 4),
        ("1", {"enum": ["1", "2"]}, "1"),
        ("1", {"enum": [1, 2]}, 1),
        ('{"a": [1]}', {"type": "object"}, {"a": [1]}),
        ("2026-07-28", {}, "2026-07-28"),
        ("NaN", {"type": "number"}, "NaN"),
        ("1e999", {"type": "number"}, "1e999"),
        ("[" * 5000, {"type": "array"}, "[" * 5000),
        ("a=b", {"type": "string"}, "a=b"),
        ("", {"type": "integer"}, ""),
    ],
)
def test_a_value_is_json_unless_the_schema_takes_text(text, spec, value):
    assert value_of(text, spec, COLOURS) == value


def test_a_key_ends_at_the_first_equals_sign():
    assert split_pairs(["a=b=c", "d="], "argument") == {"a": "b=c", "d": ""}


@pytest.mark.parametrize("pairs", [["a"], ["=a"], ["a=1", "a=2"]])
def test_what_is_no_pair_or_comes_twice_is_refused(pairs):
    with pytest.raises(Stop) as stopped:
        split_pairs(pairs, "argument")

    assert stopped.value.code == 2


def test_an_argument_that_the_tool_does_not_list_is_refused_unless_its_schema_is_open():
    schema = {"properties": {"a": {"type": "integer"}}}

    with pytest.raises(Stop, match=r"no argument 'b'; it takes: a\. To answer a question beforehand: --answer b=VALUE"):
        arguments_of({"b": "1"}, schema)
    assert arguments_of({"b": "1"}, schema | {"additionalProperties": True}) == {"b": 1}
    assert arguments_of({"b": "1"}, {"type": "object"}) == {"b": 1}


FORM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "ok": {"type": "boolean"}},
    "required": ["name"],
}


def field(**spec: object) -> dict:
    return {"type": "object", "properties": {"it": spec}, "required": ["it"]}


@pytest.mark.parametrize(
    ("text", "schema", "content"),
    [
        ("4522", field(type="string"), {"it": "4522"}),
        ("4522", field(type="integer"), {"it": 4522}),
        ("yes", field(type="boolean"), {"it": True}),
        ("false", field(type="boolean"), {"it": False}),
        ("Won't Fix", field(type="string", enum=["Fixed", "Won't Fix"]), {"it": "Won't Fix"}),
        ("a, b", field(type="array", items={"type": "string", "enum": ["a", "b"]}), {"it": ["a", "b"]}),
        ('["a"]', field(type="array", items={"type": "string", "enum": ["a", "b"]}), {"it": ["a"]}),
        ("a, b", field(type="array", items={"type": "string", "enum": ["a, b"]}), {"it": ["a, b"]}),
        ('{"it": 7}', field(type="integer"), {"it": 7}),
        ('{"other": 7}', field(type="string"), {"it": '{"other": 7}'}),
        ('{"name": "Ann", "age": 3}', FORM, {"name": "Ann", "age": 3}),
        ('{"name": "@decline"}', FORM, {"name": "@decline"}),
        ("@accept", {"type": "object", "properties": {"it": {"type": "string"}}}, {}),
        ("whatever", {"type": "object", "properties": {"it": {"type": "object"}}}, {"it": "whatever"}),
    ],
)
def test_an_answer_is_the_only_field_or_an_object_of_all(text, schema, content):
    response = Given([f"k={text}"]).to(Question("k", "?", schema))

    assert response
    assert response.wire() == {"action": "accept", "content": content}


@pytest.mark.parametrize(
    ("text", "schema", "why"),
    [
        ("maybe", field(type="boolean"), "it must be true or false"),
        ("four", field(type="integer"), "it must be a whole number"),
        ("Green", field(type="string", enum=["Red"]), "it must be one of the choices offered"),
        ("Ann", FORM, r'k=\{"name": ..., "age": ..., "ok": ...\}'),
        ('{"age": 3}', FORM, "name is missing"),
        ("@accept", FORM, "name is missing"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_before_it_is_sent(text, schema, why):
    with pytest.raises(Stop, match=why) as stopped:
        Given([f"k={text}"]).to(Question("k", "?", schema))

    assert stopped.value.code == 2


def test_a_refusal_is_an_answer_and_a_page_takes_nothing_else_but_consent():
    page = Question("page", "Sign in", url="https://example.com")

    assert [Given([f"page=@{word}"]).to(page) for word in ("accept", "decline", "cancel")] != [None] * 3
    with pytest.raises(Stop, match="the answer is @accept, @decline or @cancel"):
        Given(["page=yes"]).to(page)


def test_an_input_name_serves_all_its_keys_and_a_wire_key_goes_first():
    given = Given(["ok=yes", "ok-2=no", "unused=1"])
    answers = [given.to(Question(key, "?", field(type="boolean"))) for key in ("ok", "ok-2", "ok-3", "other")]

    assert [answer and answer.content for answer in answers] == [{"it": True}, {"it": False}, {"it": True}, None]
    assert given.unused == ["unused"]
