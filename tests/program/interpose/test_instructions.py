# SPDX-License-Identifier: Apache-2.0
"""An event costs no more instructions than was committed: bench/instructions.py counts them with
callgrind, so a busy machine changes nothing."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import runs

sys.path.insert(0, str(runs.ROOT / "bench"))

import instructions  # noqa: E402

COMMITTED = json.loads((Path(__file__).resolve().parent / "instructions.json").read_text())
# The room that another release of the compiler needs for the same source. A call more at every event is
# some thirty instructions, which is more than this.
TOLERANCE = 1.03


@pytest.mark.parametrize("program", COMMITTED["instructions_an_event"])
def test_an_event_costs_no_more_than_was_committed(program, built):
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is missing; scripts/setup installs it")
    if sys.version_info[:2] != tuple(COMMITTED["python"]):
        pytest.skip("the figure is of another Python: frames are read another way there")
    ours = instructions.measure(program, "memtrace")
    # Something was counted, and in the functions that an event goes through.
    assert any("on_entry" in name for name in ours) and sum(ours.values()) > 100
    highest = COMMITTED["instructions_an_event"][program] * TOLERANCE
    assert sum(ours.values()) <= highest, sorted(ours.items(), key=lambda one: -one[1])[:10]
