# SPDX-License-Identifier: Apache-2.0
"""The same program bare and under memtrace: what it computes, keeps, pickles and leaves behind.

Every program prints what it sees; the two outputs must be the same, byte for byte."""

import re
import signal

import pytest

import runs
from observed import SAME_EVERY_TIME, same, said_the_same, script
from pairs import events

pytestmark = pytest.mark.usefixtures("built")


def test_numbers_pickles_and_allocator(tmp_path):
    said = said_the_same(tmp_path, "numbers_and_pickles")
    assert len(re.findall(r"as saved: [0-9a-f]{32}", said)) > 40
    # On the CPU something is learned: numbers that could differ.
    assert len(set(re.findall(r"cpu AdamW loss \d: .*", said))) == 3


@pytest.mark.slow
def test_what_is_left_in_the_process(tmp_path):
    """Without censuses: nothing. With them: a function that is called at exit; a handler of SIGUSR2
    where one is asked for."""
    pair = same(tmp_path, "process_state", env={"MEMTRACE_CENSUS": "0"})
    said = pair.bare.stdout.decode()
    assert said.count("exception: Traceback") == 3
    for asked, traces in ((None, with_function_at_exit), ("1", with_function_and_handler)):
        environment = {**SAME_EVERY_TIME, "MEMTRACE_CENSUS_SIGNAL": asked} if asked else SAME_EVERY_TIME
        looked = runs.run(script("process_state"), tmp_path / f"looked {asked}", env=environment).expect(0)
        assert looked.stdout.decode() == traces(said)


def with_function_at_exit(said: str) -> str:
    return re.sub(r"(?m)^at exit: (\d+)$", lambda found: f"at exit: {int(found[1]) + 1}", said)


def with_function_and_handler(said: str) -> str:
    def caught(found):
        return f"{found[1]}{int(found[2], 16) | 1 << (signal.SIGUSR2 - 1):016x}"

    return re.sub(r"('SigCgt:', ')([0-9a-f]{16})", caught, with_function_at_exit(said))


def test_lifetimes(tmp_path):
    said = said_the_same(tmp_path, "lifetimes")
    assert re.search(r"without the optimizer: \['optimizer'", said)
    assert re.search(r"without the model: \['module '", said)


@pytest.mark.slow
def test_censuses_in_any_place(tmp_path):
    pair = same(tmp_path, "censuses", env={"PACKAGE": str(runs.ROOT / "python")})
    assert b"interrupted: 10" in pair.bare.stdout
    lines = events(pair.traced.traces[0])
    taken = [line for line in lines if line["kind"] == "census" and line["action"] == "end"]
    assert len(taken) > 50
    assert sum(line["bytes"] > 0 for line in taken) > 30
