"""The sentences of the protocol in this folder and the tests hold together.

Each TOML file is a document, each table in it a sentence with an id of its own:

    level   MUST, MUST NOT, SHOULD, SHOULD NOT, MAY; or text, for what is asked without a keyword
    at      where it stands in the document
    says    what it asks for, in our words
    since   what a later document made of it, where that differs
    note    what we do about it, where that is not plain
    tests   the tests that prove it, or else
    reason  why there is nothing to prove

A test written for a sentence names its id in the docstring, like `Spec S6`; all in this folder do.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LEVELS = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "text"]
COUNTS = {
    "sep_2322": [10, 4, 8, 0, 10, 17],
    "mrtr": [13, 7, 7, 0, 6, 1],
    "requests": [35, 10, 14, 4, 1, 1],
    "streams": [11, 5, 6, 0, 1, 1],
    "questions": [24, 12, 11, 4, 1, 0],
    "tasks": [22, 8, 8, 0, 5, 4],
}
"""How many sentences of each level a document has, so that none is lost; those of the first are all its keywords."""

DOCUMENTS: dict[str, dict[str, Any]] = {
    path.stem: tomllib.loads(path.read_text()) for path in sorted(HERE.glob("*.toml"))
}
SENTENCES: dict[str, dict[str, Any]] = {
    name: sentence
    for document in DOCUMENTS.values()
    for name, sentence in document.items()
    if isinstance(sentence, dict)
}
NAMED = re.compile(r"\bSpec ([A-Z]\d+[a-z]?(?:, [A-Z]\d+[a-z]?)*)")
FILES = sorted(path for folder in ("tests", "cookbook") for path in (ROOT / folder).rglob("test_*.py"))


@cache
def docstrings(path: Path) -> dict[str, str]:
    """The docstrings of the tests of a file, by name."""
    return {
        node.name: ast.get_docstring(node) or ""
        for node in ast.parse(path.read_text()).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")
    }


def marks() -> Iterator[tuple[str, set[str]]]:
    """Each test of the project with the sentences that it names."""
    for path in FILES:
        for name, text in docstrings(path).items():
            found = {each for listed in NAMED.findall(text) for each in listed.split(", ")}
            yield f"{path.relative_to(ROOT)}::{name}", found


def proofs(test: str) -> set[str]:
    """The sentences that name a test."""
    return {name for name, sentence in SENTENCES.items() if test in sentence.get("tests", ())}


def test_no_sentence_is_lost_and_none_has_the_id_of_another():
    counted = {
        title: Counter(sentence["level"] for sentence in document.values() if isinstance(sentence, dict))
        for title, document in DOCUMENTS.items()
    }

    assert {title: [levels[level] for level in LEVELS] for title, levels in counted.items()} == COUNTS
    assert len(SENTENCES) == sum(sum(levels) for levels in COUNTS.values())


@pytest.mark.parametrize("title", COUNTS)
def test_a_document_says_what_it_is_and_where_it_is_from(title):
    document = DOCUMENTS[title]

    assert [key for key, value in document.items() if not isinstance(value, dict)] == ["title", "source"]
    assert document["source"].startswith("https://")


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_has_a_proof_or_a_reason(name):
    sentence = SENTENCES[name]

    assert NAMED.fullmatch(f"Spec {name}")
    assert [key for key in ("level", "at", "says", "since", "note", "tests", "reason") if key in sentence] == list(
        sentence
    )
    assert sentence["level"] in LEVELS
    assert sentence["at"]
    assert ("tests" in sentence) is not ("reason" in sentence)
    for text in ("says", "since", "note", "reason"):
        assert sentence.get(text, "one.").endswith(".")


@pytest.mark.parametrize("name", [name for name, sentence in SENTENCES.items() if "tests" in sentence])
def test_the_proofs_of_a_sentence_are_there(name):
    tests = SENTENCES[name]["tests"]

    assert tests
    assert len(set(tests)) == len(tests)
    for test in tests:
        file, _, function = test.partition("::")
        assert function in docstrings(ROOT / file), test


def test_what_a_test_says_it_proves_names_the_test_and_the_other_way_round():
    marked = {test: named for test, named in marks() if named}

    assert marked
    assert {test: (named, proofs(test)) for test, named in marked.items() if named != proofs(test)} == {}


def test_every_test_of_this_folder_names_its_sentences():
    here = {test: named for test, named in marks() if test.startswith("tests/spec/")}

    assert [test for test, named in here.items() if not named and "test_manifest" not in test] == []


def test_what_stands_in_no_docstring_is_no_mark():
    for path in FILES:
        named = sum(len(NAMED.findall(text)) for text in docstrings(path).values())
        if path != Path(__file__):
            assert len(NAMED.findall(path.read_text())) == named, path
