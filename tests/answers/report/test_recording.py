# SPDX-License-Identifier: Apache-2.0
"""The report tells how it was recorded, where that is why something is missing. (What was refused:
tests/trace/device/test_nvml.py.)"""

import pytest

import runs

PROGRAM = """if True:
    import torch
    layer = torch.nn.Linear(512, 512).cuda()
    layer(torch.ones(512, device="cuda")).sum().backward()
"""
MINIMAL = ("Recorded with MEMTRACE=minimal, without the names of modules, parameters and optimizer states, and what "
           "keeps memory alive; standard has them")


@pytest.fixture(scope="module")
def recorded(built, tmp_path_factory):
    made = {}

    def record(mode: str | None):
        if mode not in made:
            folder = tmp_path_factory.mktemp("recorded")
            outcome = runs.run([runs.python(), "-c", PROGRAM], folder, env={"MEMTRACE": mode} if mode else {})
            traces = outcome.expect(0).traces
            process, = runs.report(traces, folder)["processes"]
            made[mode] = process["run"]["recording"], runs.report_text(traces), outcome.stderr.decode()
        return made[mode]

    return record


def test_a_minimal_recording_says_what_is_missing(recorded):
    recording, text, _ = recorded("minimal")
    assert recording == {"mode": "minimal", "capabilities": ["python_stacks", "deep_binding"], "refused": []}
    assert MINIMAL in text
    assert "Names of modules" not in text


def test_a_standard_recording_says_nothing_of_it(recorded):
    recording, text, _ = recorded(None)
    assert recording["mode"] == "standard"
    assert {"agent", "autograd", "nvml", "census"} <= set(recording["capabilities"])
    assert recording["refused"] == []
    assert "MEMTRACE=" not in text and "Not recorded" not in text


def test_a_mode_that_is_none_is_told_once(recorded):
    recording, _, said = recorded("everything")
    assert recording["mode"] == "standard"
    assert said.count("MEMTRACE=everything is no mode; it is one of minimal, standard, full") == 1
