# SPDX-License-Identifier: Apache-2.0
"""A small part of what make_results.py does with everything: predictions beside real runs."""

import pytest

import predictions
from predictions import SETTINGS, Case

STEP = 2 << 20


@pytest.mark.parametrize("name", [
    "kv_cache_cat", *(pytest.param(name, marks=pytest.mark.slow) for name in ("variable_lengths", "prefetch"))])
def test_peaks(name, built, tmp_path):
    cases = [Case(name, setting) for setting in SETTINGS]
    real = predictions.perform(cases, tmp_path)
    for recorded in ("default", "expandable"):
        trace = tmp_path / f"{Case(name, recorded).name}.mtrace"
        predicted = predictions.predictions(trace, recorded)
        assert predicted[recorded]["exact"]
        for case in cases:
            one = predictions.judge_peak(case, recorded, predicted[case.setting], real[case.name])
            assert one.error == 0, one


def test_out_of_memory(built, tmp_path):
    name, setting = "kv_cache_cat", "expandable"
    recorded = Case(name, "default")
    predictions.perform([recorded], tmp_path)
    trace = tmp_path / f"{recorded.name}.mtrace"
    option = predictions.predictions(trace, "default", None, [setting])[setting]
    assert not option["depends_on_addresses"]
    outside = predictions.LARGE - option["capacity_bytes"]
    smallest = outside + -(-option["smallest_fit"]["capacity_bytes"] // STEP) * STEP
    cases = [Case(name, setting, smallest + steps * STEP) for steps in (-40, -10, -1, 0)]
    real = predictions.perform(cases, tmp_path / "boundary")
    for case in cases:
        predicted = predictions.predictions(trace, "default", case.memory, [setting])[setting]
        one = predictions.judge_memory(case, "default", predicted, real[case.name])
        assert one.right and not one.undecided, one
    assert real[cases[0].name]["num_ooms"] and not real[cases[-1].name]["num_ooms"]
