# SPDX-License-Identifier: Apache-2.0
"""Inside the traced process runs what its mode and the variables say: each row of
include/memtrace/capabilities.h that is off does not happen, and the others still do."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

import runs

PROGRAM = Path(__file__).parent / "programs" / "everything.py"
HEADER = (runs.ROOT / "include" / "memtrace" / "capabilities.h").read_text()
ROWS = {name: (variable, mode)
        for name, variable, mode in re.findall(r'X\((\w+), "(\w+)",\s+(\w+),', HEADER)}
MODES = ["minimal", "standard", "full"]

# Each is seen by what the program found in its own process, and by what its trace tells.
# deep_binding: tests/trace/interception/ways.
SEEN = {
    "python_stacks": lambda own, told: any(frame["file"].endswith("everything.py") for frame in frames(told)),
    "allocator_methods": lambda own, told: "libc10_cuda" not in own["functions"]
                         and "empty_cache_begin" in operations(told),
    "agent": lambda own, told: info(told, "agent") == ["on"],
    "source": lambda own, told: "memtrace-source" in own["threads"]
              and any(one["kind"] == "source" and one["file"].endswith("everything.py") for one in told),
    "nvtx": lambda own, told: own["tool"] and any(one["kind"] == "phase" for one in told),
    "sampling": lambda own, told: "memtrace-host" in own["threads"] and counts(told, "memtrace.host."),
    "nvml": lambda own, told: "memtrace-nvml" in own["threads"] and counts(told, ".others"),
    "census": lambda own, told: any(one["kind"] == "census" for one in told),
    "cupti": lambda own, told: "witness_state" in operations(told),
    "native_stacks": lambda own, told: any("libc10_cuda.so" in frame["file"] for frame in frames(told)),
}
# Without the one the others have nothing to work on.
NEEDED_BY = {"python_stacks": {"agent", "census", "source"}, "agent": {"census"}, "sampling": {"nvml"}}
# The threads that the program waits for, until each has looked once: the rows that start one.
THREADS = {"memtrace-host": {"sampling"}, "memtrace-nvml": {"sampling", "nvml"}, "memtrace-source": {"source"}}


def frames(told: list[dict]) -> list[dict]:
    return [frame for one in told for frame in one.get("stack") or []]


def operations(told: list[dict]) -> set[str]:
    return {one["operation"] for one in told if one["kind"] == "operation"}


def info(told: list[dict], key: str) -> list[str]:
    return [one["value"] for one in told if one["kind"] == "info" and one["key"] == key]


def counts(told: list[dict], part: str) -> bool:
    return any(part in one["name"] for one in told if one["kind"] == "counter")


def on_in(mode: str) -> set[str]:
    return {name for name, (_, since) in ROWS.items()
            if since in MODES and MODES.index(since) <= MODES.index(mode)}


@pytest.fixture(scope="module")
def happens(built, tmp_path_factory):
    """From variables, the rows that are seen, and what the trace tells of the mode."""

    @cache
    def run(variables: tuple) -> tuple[set[str], list[dict]]:
        given = dict(variables)
        on = {name for name, (variable, _) in ROWS.items() if given.get(variable, "") == "1"}
        on |= {name for name in on_in(given.get("MEMTRACE", "standard")) if given.get(ROWS[name][0]) != "0"}
        awaited = [name for name, needs in THREADS.items() if needs <= on]
        outcome = runs.run([runs.python(), PROGRAM, ",".join(awaited)], tmp_path_factory.mktemp("run"), env=given)
        trace, = outcome.expect(0).traces
        told = runs.dump(trace)
        own = json.loads(outcome.stdout.splitlines()[-1])
        return {name for name, is_seen in SEEN.items() if is_seen(own, told)}, told

    return lambda **variables: run(tuple(sorted(variables.items())))


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_what_the_table_says(happens, mode):
    seen, told = happens(MEMTRACE=mode)
    assert seen == on_in(mode) & SEEN.keys()
    assert info(told, "mode") == [mode]
    assert set(info(told, "capabilities")[0].split()) == on_in(mode)
    assert info(told, "env.MEMTRACE") == [mode]


# Each takes a whole training; of those that share nothing with others CI looks at three.
IN_CI = {"census", "cupti", "python_stacks"}


@pytest.mark.parametrize("row", [row if row in IN_CI else pytest.param(row, marks=pytest.mark.slow)
                                 for row in sorted(SEEN.keys() & on_in("full"))])
def test_each_row_is_turned_off_by_itself(happens, row):
    seen, told = happens(MEMTRACE="full", **{ROWS[row][0]: "0"})
    assert seen == (on_in("full") & SEEN.keys()) - {row} - NEEDED_BY.get(row, set())
    assert info(told, f"env.{ROWS[row][0]}") == ["0"]


@pytest.mark.slow
@pytest.mark.parametrize("row", sorted(SEEN.keys() - on_in("minimal") - {"nvml", "census"}))
def test_each_row_is_turned_on_by_itself(happens, row):
    seen, _ = happens(MEMTRACE="minimal", **{ROWS[row][0]: "1"})
    assert seen == (on_in("minimal") & SEEN.keys()) | {row}
