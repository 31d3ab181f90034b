"""Two builds of a tool, made up by Hypothesis, that serve the rounds of one call in any order, as old and new machines
do. Whatever they are, and whatever is answered when: the call comes to its end, and no yes counts for what its giver
could not see."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import given, settings, strategies as st

from mrtr_tools import Toolbox, confirm
from mrtr_tools.events import NeedInput
from mrtr_tools.rounds import Round
from tests.builds import build
from tests.rounds_by_hand import again, begin, play, result
from tests.wire_by_hand import accept

FORMS, GATES = ("a", "b"), ("g", "h")
Question = tuple[str, int]
"""An input, and in which words it is asked."""


@dataclass(frozen=True)
class Build:
    """The groups of a build, from top to bottom."""

    groups: tuple[tuple[Question, ...], ...]

    @property
    def questions(self) -> set[Question]:
        return {question for group in self.groups for question in group}

    def toolbox(self) -> Toolbox:
        groups = [
            {name: (confirm if name in GATES else str)(f"{name} in words {words}?") for name, words in group}
            for group in self.groups
        ]
        parameters = ", ".join(f"{name}: str" for name, _ in sorted(self.questions) if name in FORMS)
        return build(parameters, *groups, max_rounds=100)

    def seen_with(self, gate: Question) -> set[Question]:
        """The questions above and beside a gate."""
        place = next(place for place, group in enumerate(self.groups) if gate in group)
        return {question for group in self.groups[: place + 1] for question in group} - {gate}


@st.composite
def builds(draw: st.DrawFn) -> Build:
    """With the gate `g` in the same words, and others of the questions in one of two wordings."""
    names = draw(st.permutations(["g", *draw(st.sets(st.sampled_from(["a", "b", "h"])))]))
    questions = [(name, 1 if name == "g" else draw(st.sampled_from([1, 1, 2]))) for name in names]
    cuts = sorted(draw(st.sets(st.integers(1, len(names)), max_size=2)) | {0, len(names)})
    return Build(tuple(tuple(questions[low:high]) for low, high in pairwise(cuts)))


rounds = st.lists(st.tuples(st.integers(0, 1), st.sets(st.sampled_from(FORMS + GATES))), max_size=6)
"""Which build serves a round, and which questions were answered before it."""


def words_of(request: Mapping[str, Any]) -> int:
    return int(request["params"]["message"].removesuffix("?")[-1])


def input_of(key: str) -> str:
    return key.partition("-")[0]


@settings(max_examples=150)
@given(st.tuples(builds(), builds()), st.integers(0, 1), rounds, st.integers(0, 1))
def test_no_yes_counts_for_what_its_giver_could_not_see_whatever_builds_serve_the_rounds(
    pair: tuple[Build, Build], first: int, script: list[tuple[int, set[str]]], last: int
):
    """Security 1, 3: and no key is asked once more when it was answered."""
    toolboxes = [each.toolbox() for each in pair]
    machine: Round = begin(toolboxes[first], "go")
    serving, shown, answered = first, dict[Question, tuple[int, int]](), set[str]()
    plan = [*script, *[(last, set(FORMS + GATES))] * 12]
    for moment, (following, replied) in enumerate(plan):
        event = play(machine)
        if not isinstance(event, NeedInput):
            break
        assert not answered & set(event.requests)
        responses: dict[str, Any] = {}
        for key, request in event.requests.items():
            question = (name := input_of(key), words_of(request))
            assert question in pair[serving].questions
            if name in replied:
                responses[key] = accept(**{name: True if name in GATES else f"{name}{question[1]}"})
                shown[question] = (moment, serving)
                answered.add(key)
        machine = again(machine, responses, toolbox=toolboxes[following])
        serving = following
    final = pair[serving]
    assert result(machine) == " ".join(f"{name}{words}" for name, words in sorted(final.questions) if name in FORMS)
    for gate in (question for question in final.questions if question[0] in GATES):
        when, where = shown[gate]
        for other in final.seen_with(gate):
            assert shown[other][0] <= when or other in pair[where].questions, (gate, other)
