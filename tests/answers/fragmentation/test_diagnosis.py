# SPDX-License-Identifier: Apache-2.0
"""The diagnosis of fragmentation beside PyTorch's own snapshots of the same run, byte for byte."""

import json
import re
from pathlib import Path

import pytest

import programs_table
import recordings
import runs
import snapshot_parts

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def found(built, tmp_path_factory):
    """The diagnosis of a program and what PyTorch's snapshots say, recorded when first asked for."""
    folder = tmp_path_factory.mktemp("fragmentation")
    known = {}

    def load(name: str) -> tuple[dict, dict]:
        if name not in known:
            recordings.run_each(HERE / "fragmented.py", [name], folder, env={"PYTHONPATH": str(runs.ROOT / "python")})
            document = runs.report([folder / f"{name}.mtrace"], folder)
            diagnosis, = document["fragmentation"]
            known[name] = diagnosis, json.loads((folder / f"{name}.json").read_text())
        return known[name]

    load.folder = folder
    return load


every_program = pytest.mark.parametrize("name", programs_table.CAUSES)


@pytest.mark.one_in(4)
@every_program
def test_the_parts_are_those_of_the_snapshot(found, name):
    diagnosis, witness = found(name)
    assert diagnosis["inexact"] is None
    peak = diagnosis["at_peak"]
    expected = snapshot_parts.of_peak(witness)
    assert peak["unused"] == expected.parts
    assert peak["used_again"] == expected.used_again
    assert sum(peak["unused"].values()) == peak["unused_bytes"]
    assert peak["unused_bytes"] == peak["reserved_bytes"] - peak["allocated_bytes"]
    assert peak["reserved_bytes"] == sum(segment["bytes"] for segment in witness["peak"])


@pytest.mark.one_in(4)
@every_program
def test_totals_and_lower_bounds(found, name):
    diagnosis, witness = found(name)
    assert diagnosis["peak_reserved_bytes"] == witness["peak_reserved"]
    assert diagnosis["peak_allocated_bytes"] == witness["peak_allocated"]
    bounds = diagnosis["lower_bound_bytes"], diagnosis["lower_bound_active_bytes"]
    assert bounds == snapshot_parts.lower_bounds(snapshot_parts.events_of(witness))
    assert bounds[1] <= witness["peak_reserved"]
    assert diagnosis["over_time"]
    for moment in diagnosis["over_time"]:
        assert sum(moment["unused"].values()) == moment["unused_bytes"]
        assert moment["unused_bytes"] == moment["reserved_bytes"] - moment["allocated_bytes"]


@pytest.mark.one_in(4)
@every_program
def test_rounding_inside_of_blocks(found, name):
    diagnosis, witness = found(name)
    peak = diagnosis["at_peak"]
    divisions = 4 if name == "rounded_to_powers" else 0
    said = peak["rounding"]
    assert (said["requested_bytes"], said["multiples_bytes"], said["tails_bytes"]) == \
        snapshot_parts.rounding(witness["peak"], divisions)
    assert sum(said.values()) == peak["allocated_bytes"]


@pytest.mark.one_in(4)
@every_program
def test_the_cause(found, name):
    diagnosis, _ = found(name)
    assert diagnosis["cause"] == programs_table.CAUSES[name]
    assert diagnosis["matters"] == (diagnosis["cause"] != "none")


@pytest.mark.one_in(4)
@every_program
def test_the_map_is_the_heap(found, name):
    diagnosis, witness = found(name)
    drawn = next(one for one in diagnosis["maps"] if one["when"] == "peak_reserved")
    assert drawn["segments_left_out"] == 0
    letters = {"active_allocated": "a", "active_pending_free": "p", "inactive": "c"}
    said = {}
    for segment in drawn["segments"]:
        at = segment["address"]
        for state, units in re.findall(r"([apcu])(\d+)", segment["blocks"]):
            if state != "u":
                said[at] = state, int(units) * 512
            at += int(units) * 512
    expected = {block[0]: (letters[block[3]], block[1])
                for segment in witness["peak"] for block in segment["blocks"]}
    if not drawn["merged"]:
        assert said == expected
    for state in letters.values():
        assert sum(size for letter, size in said.values() if letter == state) == \
            sum(size for letter, size in expected.values() if letter == state)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", programs_table.BLOCKED)
def test_blocked_requests(found, name):
    diagnosis, witness = found(name)
    expected = snapshot_parts.blocked(witness)
    said = diagnosis["blocked_requests"]
    assert said["count"] == len(expected)
    assert said["looked_at"] == said["of"] == len(witness["before"])
    largest = [(one["bytes"], one["free_bytes"], one["largest_free_block_bytes"])
               for one in said["largest"]]
    assert set(largest) <= set(expected)
    assert len(largest) == min(len(expected), 8)
    if name == "blocked":
        assert said["largest"][0]["out_of_memory"]
        assert said["largest"][0]["frames"][1]["function"] == "blocked"


def test_survivors_are_named_with_their_line(found):
    diagnosis, _ = found("survivors")
    sites = diagnosis["pinning_sites"]
    assert sum(site["bytes"] for site in sites) == diagnosis["at_peak"]["unused"]["survivors"]
    source = (HERE / "fragmented.py").read_text().splitlines()
    lines = {frame["line"] for frame in sites[0]["frames"] if frame["function"] == "survivors"}
    assert any("# kept for good" in source[line - 1] for line in lines)


def test_where_memory_ran_out(found):
    diagnosis, witness = found("blocked")
    moment = diagnosis["at_out_of_memory"]
    blocks = [block for segment in witness["oom"] for block in segment["blocks"]]
    assert moment["reserved_bytes"] == sum(block[1] for block in blocks)
    assert moment["allocated_bytes"] == sum(block[1] for block in blocks
                                            if block[3] == "active_allocated")
    assert moment["largest_free_block_bytes"] == max(block[1] for block in blocks
                                                     if block[3] == "inactive")
    assert moment["request_bytes"] == 200 << 20
    assert diagnosis["pressure"]["retries"] == witness["retries"] > 0
    assert {one["when"] for one in diagnosis["maps"]} == {"peak_reserved", "out_of_memory"}


@pytest.mark.one_in(4)
@every_program
def test_what_the_terminal_says(found, name):
    found(name)
    text = runs.report_text([found.folder / f"{name}.mtrace"])
    assert len(text.splitlines()) <= 36
    # Where most of the GPU is free, what lies unused in pieces is nobody's worry.
    used = re.match(r"FITS.* \((\d+) %\)", text)
    is_scarce = used is None or int(used[1]) >= 50 or "CUDA refused memory" in text
    cause = programs_table.CAUSES[name]
    assert ("Fragmentation:" in text) == (cause != "none" and is_scarce)
    assert f"({cause})" not in text
