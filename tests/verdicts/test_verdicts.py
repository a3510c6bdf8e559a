# SPDX-License-Identifier: Apache-2.0
"""A part of the corpus at one length; make_results.py runs all of it, with RESULTS.md in the end."""

import pytest

import judge
import recorded
from corpus import CORPUS
from recorded import Run

STEPS = 100


def parameters():
    for truth in CORPUS:
        marks = () if truth.quick else (pytest.mark.slow,)
        yield pytest.param(truth, marks=marks, id=" ".join([truth.program, *truth.arguments]))


@pytest.mark.parametrize("truth", list(parameters()))
def test_verdict_is_right(built, truth, tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "KEPT", tmp_path)
    found = judge.judge(recorded.report(Run(truth, STEPS)), truth, STEPS)
    assert found.too_short or found.right, found.said
    assert found.culprit_first is not False, found.said
    assert found.path_right is not False, found.said
