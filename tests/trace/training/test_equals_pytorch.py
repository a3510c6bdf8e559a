# SPDX-License-Identifier: Apache-2.0
"""A trace holds what PyTorch's own recorder holds of the same run: each event, total and frame."""

import pytest

import matrix

CASES = [
    pytest.param(
        program, setting, id=f"{program}-{setting.name}",
        marks=() if (program, setting.name) in matrix.QUICK else pytest.mark.slow,
    )
    for program in matrix.PROGRAMS for setting in matrix.SETTINGS
]


@pytest.mark.parametrize(("program", "setting"), CASES)
def test_trace_equals_pytorchs_own_record(program, setting, built, tmp_path):
    run = matrix.run_one(program, setting, tmp_path)
    found = run.found
    assert found.events > 100, "the program hardly allocated: nothing was tested"
    assert found.with_frames > 50, "PyTorch recorded hardly any frame: nothing was tested"
    assert found.stacks >= found.events - found.missing - found.different
    assert found.totals > 100
    if setting.name == "streams" or program == "side_streams":
        assert found.streams > 1 and found.deferred > 0, "nothing ran on a second stream"
    if setting.name == "expandable":
        assert found.kinds.get("segment_map", 0) > 0, "no expandable segment"
    assert found.differences == 0, "\n".join(found.shown)
    assert run.report["completeness"]["dropped_events"] == 0
    assert run.report["completeness"]["clean_exit"] is True
