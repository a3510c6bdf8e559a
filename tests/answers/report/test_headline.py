# SPDX-License-Identifier: Apache-2.0
"""The first line of the report of real programs: what they did is known from their source, or they say it themselves."""

import importlib.util
import json
import re

import pytest

import programs
import recordings
import runs

CORPUS = runs.ROOT / "tests/corpus/programs"


def first_line(made: recordings.Recording) -> str:
    """It is wrapped, never cut: the JSON has it as a whole."""
    text = runs.memtrace_says("report", *made.traces).stdout
    whole = json.loads(runs.memtrace_says("report", *made.traces, "--json", "-").stdout)["headline"]["text"]
    assert re.sub(r"\s+", " ", text).startswith(whole)
    assert all(len(line) <= 100 for line in text.splitlines()[:2])
    return whole


def line_of_traceback(made: recordings.Recording) -> str:
    return re.findall(r'out_of_memory\.py", line (\d+)', (made.stderr + made.stdout).decode())[-1]


def test_what_is_kept_until_memory_runs_out(built):
    made = recordings.record(programs.path("out_of_memory"), memory="2GiB")
    state, asked, grows, kept = first_line(made).split(" · ")[:4]
    assert state == "OUT OF MEMORY" and asked.endswith(f" at out_of_memory.py:{line_of_traceback(made)}")
    assert "a step at out_of_memory.py:31" in grows and kept == "kept by `kept`"
    # No face says when memory will run out.
    device = next(one for one in made.report()["verdicts"] if one["subject"] == "device:0")
    assert device["summary"].endswith(", until memory ran out")
    assert device["steps_to_oom"] is None and device["time_to_oom_ns"] is None
    assert "out of memory in about" not in runs.memtrace_says("report", *made.traces).stdout


def test_what_failed_and_was_caught_is_no_end(built):
    made = recordings.record(programs.path("out_of_memory"), "--caught", memory="2GiB")
    line = first_line(made)
    assert line.startswith("LEAKS · ") and "kept by `kept`" in line
    assert line.endswith(" · memory ran out, and the program went on")


def test_free_memory_in_pieces_is_the_cause_and_a_setting_the_cure(built):
    line = first_line(recordings.record(programs.path("in_pieces"), memory="880MiB"))
    assert line.startswith("OUT OF MEMORY · 300 MiB refused at in_pieces.py:")
    setting = re.search(r"were unused, but in pieces · fix \(checked by replay\): (PYTORCH_\w+)=(\S+)$", line)
    # Carried out, as it is said.
    mended = recordings.record(programs.path("in_pieces"), memory="880MiB", env={setting[1]: setting[2]})
    assert mended.status == 0 and first_line(mended).startswith("FITS")


def test_a_training_that_fits(built):
    line = first_line(recordings.record(programs.path("transformer_adamw"), "--steps", "12"))
    assert line.startswith("FITS · ") and " of 23.7 GiB (" in line
    assert "steady" in line and "12 steps" in line


@pytest.mark.parametrize("name, grows, kept", [
    ("leak_global_dict", "18 KiB a step at leak_global_dict.py:", "ATTENTION"),
    ("leak_side_stream", "a step at leak_side_stream.py:", "alive"),
])
def test_a_leak_with_its_line_and_its_keeper(built, name, grows, kept):
    line = first_line(recordings.record(CORPUS / f"{name}.py", "--steps", "100"))
    state, rate, keeper, until = line.split(" · ")
    assert state == "LEAKS" and grows in rate and kept in keeper
    assert until.startswith("out of memory in about ")


def test_a_moment_that_the_run_does_not_have_is_an_error(built):
    made = recordings.record(programs.path("transformer_adamw"), "--steps", "12")
    told = runs.memtrace_says("report", made.trace, "--at", "step:99")
    assert told.returncode != 0 and not told.stdout and "steps 0 to 11" in told.stderr
    assert runs.memtrace_says("report", made.trace, "--at", "step:11").returncode == 0


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="needs transformers")
@pytest.mark.parametrize("memory", [None, "470MiB"])
def test_a_generation_is_told_by_its_cache_up_to_the_model_s_positions(built, memory):
    """Also where memory is short of the positions: how long a text gets is chosen for each."""
    line = first_line(recordings.record(programs.path("one_generation"), memory=memory, imports=("transformers",)))
    # Keys and values of 4 layers of 512 numbers of 16 bits, for each of 64 texts; and 512 positions.
    a_token = 2 * 4 * 512 * 2 * 64
    said = re.search(r"^FITS.* · KV cache: (\d+) KiB a token, (\d+) MiB at the model's 512 positions$", line)
    assert int(said[1]) == pytest.approx(a_token >> 10, rel=0.01)
    assert int(said[2]) == pytest.approx(a_token * 512 >> 20, rel=0.01)
