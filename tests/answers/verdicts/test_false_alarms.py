# SPDX-License-Identifier: Apache-2.0
"""Programs of kinds that were once called leaks, or of which two things were said."""

import re

import pytest

import programs
import recordings
import runs


def line_of(name: str, mark: str) -> int:
    """The line of a program that ends in the mark."""
    lines = programs.path(name).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def recorded(name: str, gpu: str) -> recordings.Recording:
    return recordings.record(programs.path(name), gpu=gpu, env={"OMP_NUM_THREADS": "1"})


def verdicts(recording: recordings.Recording) -> dict[str, dict]:
    return {one["subject"]: one for one in recording.report()["verdicts"]}


def test_what_an_evaluation_gathers_and_gives_back_is_a_fact(built):
    found = recorded("gathered_and_dropped", "t4").expect(0)
    of = verdicts(found)
    evaluation = of["phase:evaluation"]
    assert evaluation["answer"] == "bounded" and evaluation["bound"]["kind"] == "episode"
    assert evaluation["bound"]["line"] == line_of("gathered_and_dropped", "gathers")
    assert not any(one["is_leak"] for one in of.values())
    assert runs.memtrace_says("check", "--no-leaks", *found.traces).returncode == 0
    text = runs.report_text(found.traces)
    # 20 batches of 256 rows with 512 numbers, in a list that has no name; not the batch at hand.
    assert "evaluation of 20 calls gathers 10 MiB" in text and "kept by `args`" not in text
    assert "gives it back" in text and "out of memory" not in text and "accumulates" not in text


def test_the_cache_of_one_generation_is_bounded_by_the_model_s_positions(built):
    found = recorded("one_generation", "rtx3090").expect(0)
    device = verdicts(found)["device:0"]
    assert device["answer"] == "bounded" and device["bound"]["kind"] == "positions"
    assert device["bound"]["value"] == 512 and device["bound"]["line"] == line_of("one_generation", "generates")
    # Keys and values of 4 layers, 512 halves each, of 64 texts.
    assert device["bytes_per_step"] == pytest.approx(2 * 4 * 512 * 2 * 64, rel=0.05)
    assert device["bound"]["reached_in_steps"] == pytest.approx(512 - 64 - 120, rel=0.1)
    assert runs.memtrace_says("check", "--no-leaks", *found.traces).returncode == 0


def test_nothing_is_said_of_the_host_before_steps_have_ended(built):
    found = recorded("fails_in_first_step", "t4").expect(1)
    for subject, one in verdicts(found).items():
        if subject.startswith("host"):
            assert one["answer"] == "not_settled"
    assert "Host memory" not in runs.report_text(found.traces)


def test_what_the_simulator_keeps_is_not_the_program_s(built):
    """Each frame is there on the host, too: in the simulator, which has no device to put it on."""
    found = recorded("keeps_frames", "t4").expect(0)
    of = verdicts(found)
    assert of["device:0"]["is_leak"] and of["device:0"]["bytes_per_step"] == pytest.approx(512 << 10, rel=0.02)
    assert of["host"]["bytes_per_step"] is None or of["host"]["bytes_per_step"] < 128 << 10
    assert not of["host"]["is_leak"]


def test_rate_and_forecast_are_of_one_series(built):
    """Until memory is full at the rate that is told: what is free now, by what a step adds."""
    found = recorded("keeps_frames", "t4").expect(0)
    report = found.report()
    device = next(one for one in report["verdicts"] if one["subject"] == "device:0")
    room = report["devices"][0]["capacity_bytes"] - report["devices"][0]["peak_allocated_bytes"]
    assert device["steps_to_oom"] == pytest.approx(room / device["bytes_per_step"], rel=0.05)
    told = re.search(r"accumulates (\S+ \S+) a step: out of memory in about ([\d,]+) steps", runs.report_text(found.traces))
    assert told and int(told[2].replace(",", "")) == device["steps_to_oom"] and told[1] == "512 KiB"


def test_a_part_that_is_called_by_itself_is_used(built):
    """The decoder runs after each epoch without the model around it: it is the same part as within."""
    found = recorded("decodes_alone", "t4").expect(0)
    report = found.report()
    assert not [one for one in report["advice"] if one["id"].startswith("unused_parameters")]
    assert not re.search(r"\bfc3\b", runs.report_text(found.traces))  # as a digest in a path may have it
