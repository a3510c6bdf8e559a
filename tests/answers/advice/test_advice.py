# SPDX-License-Identifier: Apache-2.0
"""Advice on a part of the corpus; make_results.py runs all of it, with RESULTS.md in the end."""

import pytest

import advice_judge
import advice_runs
from advice_corpus import CORPUS
from known_remedy import measured
from measure_changes import Wanted


def parameters():
    for truth in CORPUS:
        marks = () if truth.quick else (pytest.mark.slow,)
        yield pytest.param(truth, marks=marks, id=truth.name)


@pytest.mark.parametrize("truth", list(parameters()))
def test_best_remedy_is_advised_with_its_saving(built, truth, tmp_path, monkeypatch):
    monkeypatch.setattr(advice_runs, "KEPT", tmp_path)
    report = advice_runs.report(truth)
    changed = advice_runs.Changed(measured())
    if not truth.quick:  # what is advised beside the best remedy is run by make_results.py, too
        changed.run([Wanted(truth, change) for change in advice_judge.wanted_changes(report, truth)])
    found = advice_judge.judge(report, truth, changed)
    assert found.place_right is not False, found.first
    assert found.saving_right is not False, found.best
    assert not found.nothing, found.nothing
