# SPDX-License-Identifier: Apache-2.0
"""A part of the corpus, each program as long as its truth takes to show, but 100 steps at least;
make_results.py runs all of it, with RESULTS.md in the end."""

import pytest

import judge
import recorded
from corpus import CORPUS
from recorded import Run
from truth import FILLS, Truth

STEPS = 100


def steps_of(truth: Truth) -> int:
    return max(STEPS, truth.min_steps)


def parameters():
    for truth in CORPUS:
        marks = [] if truth.quick else [pytest.mark.slow]
        if truth.known_wrong:
            marks.append(pytest.mark.xfail(reason=truth.known_wrong, raises=AssertionError, strict=True))
        yield pytest.param(truth, marks=marks, id=" ".join([truth.program, *truth.arguments]))


@pytest.mark.parametrize("truth", list(parameters()))
def test_verdict_is_right(built, truth, tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "KEPT", tmp_path)
    steps = steps_of(truth)
    found = judge.judge(recorded.report(Run(truth, steps)), truth, steps)
    assert not found.too_short
    assert found.right, found.said
    assert found.culprit_first is not False, found.said
    assert found.path_right is not False, found.said


def test_more_steps_than_usual_have_a_reason():
    longer = {truth.program for truth in CORPUS if steps_of(truth) > STEPS}
    assert longer
    assert longer == {truth.program for truth in CORPUS if truth.why_steps}


@pytest.mark.parametrize("truth", [truth for truth in CORPUS if truth.subject != ("host",) and judge.must_speak(truth)],
                         ids=lambda truth: truth.program)
def test_a_program_that_accumulates_marks_its_lines(truth):
    """Without one there is nothing to compare the culprit with, and any line would do."""
    assert truth.lines("fills" if truth.memory == FILLS else "allocates")
