# SPDX-License-Identifier: Apache-2.0
"""The allocator's model does what PyTorch's allocator did, at every event. RESULTS.md has many more
runs; these are the same generator's, three of each kind of options."""

import copy
import json

import pytest

import differential
import minimise
import real_programs
import random_runs
import witness

RUNS = 3 * len(random_runs.KINDS)


@pytest.fixture(scope="module")
def verdicts(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("differential")
    found = random_runs.perform(0, RUNS, random_runs.KINDS, folder, 1500)
    return [one for of_kind in found.values() for one in of_kind]


def test_random_runs_are_reproduced_at_every_event(verdicts):
    assert len(verdicts) == RUNS
    assert [vars(one) for one in verdicts if not one.agrees] == []


def test_what_happens_is_predicted_from_the_requests_alone(verdicts):
    assert [(one.name, one.predicted) for one in verdicts if one.predicted] == []


def test_the_runs_reach_what_is_rare(verdicts):
    assert sum(one.retries for one in verdicts) > 100
    assert sum(one.out_of_memory for one in verdicts) > 100
    assert all(one.events > 100 and one.totals > 0 for one in verdicts)


@pytest.fixture(scope="module")
def one_run(built, tmp_path_factory):
    """A run with its witness and what check_trace says of it."""
    folder = tmp_path_factory.mktemp("one") / "run"
    run = random_runs.make(5, "expandable_segments", 400)
    differential.perform([run], folder, keep=True)
    seen = json.loads((folder / "5.json").read_text())
    return seen, differential.checked(folder / "5.mtrace")[0]


def test_a_wrong_layout_is_noticed(one_run):
    seen, checked = one_run
    assert witness.layout_differences(seen, checked["layout"]) == []
    wrong = copy.deepcopy(checked["layout"])
    wrong["segments"][0]["blocks"][0][2] += 1
    wrong["segments"][0]["blocks"][0][1] -= 512
    assert len(witness.layout_differences(seen, wrong)) == 2


def test_a_wrong_outcome_is_noticed(one_run):
    seen, checked = one_run
    for name in witness.STATISTICS:
        wrong = {**checked["recorded"], name: checked["recorded"][name] + 1}
        assert len(witness.outcome_differences(seen, wrong)) == 1


@pytest.mark.slow
def test_changes_of_settings_are_followed(built, tmp_path):
    """Several before the first allocation, when the recording begins, and one that PyTorch refuses
    after it has applied its first half."""
    mib = 1 << 20
    operations = [
        ["settings", "expandable_segments:True"], ["settings", "max_split_size_mb:64"],
        ["alloc", 1, 5 * mib, 0], ["settings", "expandable_segments:False"],
        ["settings", "max_split_size_mb:128,max_non_split_rounding_mb:1"],
        ["alloc", 2, 200 * mib, 0], ["free", 2], ["alloc", 3, 150 * mib, 0],
    ]
    run = {"name": "changes", "settings": "", "memory": 4096 * mib, "streams": 1,
           "operations": operations}
    verdict, = differential.perform([run], tmp_path / "run", keep=True)
    assert verdict.agrees, vars(verdict)
    assert len(verdict.refusals) == 1
    told = [(line["text"], line["a"])
            for line in differential.runs.dump(tmp_path / "run" / "changes.mtrace")
            if line.get("operation") == "settings" and line["text"]]
    assert told == [(text, int("max_non_split" in text))
                    for what, text, *_ in operations if what == "settings"]


def test_a_differing_run_is_made_small(monkeypatch):
    """With a difference that needs two of the operations, in their order."""
    def differing(run, candidates, folder, predicted):
        return [[13, 77] == [one for one in each if one in (13, 77)] for each in candidates]

    monkeypatch.setattr(minimise, "differing", differing)
    run = {"operations": list(range(100))}
    small = minimise.minimise(run, None, False, report=lambda text: None)
    assert small["operations"] == [13, 77]


@pytest.mark.slow
@pytest.mark.parametrize("kind", real_programs.SETTINGS)
@pytest.mark.parametrize("program", real_programs.PROGRAMS)
def test_real_programs_are_reproduced_at_every_event(built, tmp_path, program, kind):
    verdict, = differential.perform([real_programs.make(program, kind)], tmp_path / "run")
    assert verdict.agrees, vars(verdict)
