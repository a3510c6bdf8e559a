# SPDX-License-Identifier: Apache-2.0
"""The lengths of containers at the end of each step are those that the program itself sees."""

import json
from pathlib import Path

import pytest

import recordings
import runs

PROGRAM = Path(__file__).parent / "programs" / "lengths.py"
GLOBALS = {"cache", "window"}

pytestmark = pytest.mark.usefixtures("built")


def run(tmp_path: Path, **env: str) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """By step: what the program saw, and what the trace tells."""
    outcome = recordings.run([runs.python(), PROGRAM], tmp_path, env={"MEMTRACE_LENGTHS": "1", **env}).expect(0)
    seen = [json.loads(line) for line in outcome.stdout.splitlines() if line.startswith(b"{")]
    told: list[dict[str, int]] = []
    for one in runs.dump(outcome.traces[0], stacks=False):
        if one["kind"] == "step":
            told.append({})
        elif one["kind"] == "length":
            assert one["owner"] == ("global of __main__" if one["path"] in GLOBALS else "local of main")
            told[-1][one["path"]] = one["length"]
    return seen, told


def test_each_is_what_the_program_sees(tmp_path):
    seen, told = run(tmp_path)
    assert len(seen) == len(told) == 60
    for program, trace in zip(seen, told, strict=True):
        assert trace.items() <= program.items()
    series = {path: [trace[path] for trace in told if path in trace] for path in seen[0]}
    for path, lengths in series.items():
        assert len(lengths) > 10, path
    # Emptied, or put in the place of another: that is what no heap scan need have seen.
    for path in ("trainer.recent", "cache"):
        assert 0 in series[path], path
    assert series["outputs"] == sorted(set(series["outputs"]))


@pytest.mark.parametrize("variable", ["MEMTRACE_LENGTHS", "MEMTRACE_CENSUS"])
def test_it_can_be_turned_off(tmp_path, variable):
    _, told = run(tmp_path, **{variable: "0"})
    assert not any(told)
