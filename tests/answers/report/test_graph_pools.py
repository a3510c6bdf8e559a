# SPDX-License-Identifier: Apache-2.0
"""What replays of CUDA graphs need of a private pool is in use: to the byte as PyTorch's own snapshot has it."""

import json

import pytest

import programs
import recordings
import runs

NEEDED = "that replays of CUDA graphs need"


def record(folder, *arguments: str) -> tuple[dict, dict, str]:
    done = recordings.run([runs.python(), programs.path("graphs_in_pools"), *arguments], folder).expect(0)
    trace, = done.traces
    return json.loads(done.stdout), runs.report([trace], folder), runs.report_text([trace])


@pytest.fixture(scope="module")
def alive(built, tmp_path_factory):
    return record(tmp_path_factory.mktemp("alive"))


@pytest.fixture(scope="module")
def gone(built, tmp_path_factory):
    return record(tmp_path_factory.mktemp("gone"), "--gone")


def free_in(pool: dict) -> int:
    return pool["reserved"] - pool["active"]


def sums_hold(report: dict) -> dict:
    """The moment at which most was reserved, whose parts add up; those of the other views are the same."""
    device, = report["devices"]
    peak = device["peak_reserved"]
    unused = sum(peak["unused"].values())
    assert peak["reserved_bytes"] == peak["allocated_bytes"] + peak["graph_pool_bytes"] + unused
    parts = {part["part"]: part["bytes"] for part in device["used"]["parts"]}
    assert parts.get("graph_pool", 0) == peak["graph_pool_bytes"]
    assert parts["pytorch_allocated"] + parts["pytorch_cached"] + parts.get("graph_pool", 0) == peak["reserved_bytes"]
    diagnosis, = report["fragmentation"]
    assert diagnosis["inexact"] is None
    assert diagnosis["at_peak"]["graph_pool_bytes"] == peak["graph_pool_bytes"]
    for moment in [diagnosis["at_peak"], *diagnosis["over_time"]]:
        assert sum(moment["unused"].values()) == moment["unused_bytes"]
        assert moment["reserved_bytes"] == \
            moment["allocated_bytes"] + moment["graph_pool_bytes"] + moment["unused_bytes"]
    return peak


def test_what_replays_need_is_in_use(alive):
    truth, report, text = alive
    peak = sums_hold(report)
    assert peak["reserved_bytes"] == truth["reserved"]
    assert peak["graph_pool_bytes"] == free_in(truth["pools"][truth["graphs"]]) > 64 << 20
    assert peak["unused"]["private_pools_bytes"] == free_in(truth["pools"][truth["own"]]) > 0
    diagnosis, = report["fragmentation"]
    assert diagnosis["cause"] in ("none", "private_pools")  # of the MemPool
    assert diagnosis["lower_bound_bytes"] <= truth["reserved"]
    assert text.count(NEEDED) == 2  # of what is reserved, and of what is most in use


def test_each_capture_has_its_bytes(alive):
    truth, report, text = alive
    graphs = report["devices"][0]["graphs"]
    assert (graphs["count"], graphs["pools"]) == (3, 1)
    assert [one["added_bytes"] for one in graphs["captures"]] == [one["added"] for one in truth["captures"]]
    assert [one["most_in_use_bytes"] for one in graphs["captures"]] == [one["most"] for one in truth["captures"]]
    assert graphs["added_bytes"] == truth["pools"][truth["graphs"]]["reserved"]
    assert {one["pool"] for one in graphs["captures"]} == {0}
    line = next(number for number, words in enumerate(programs.path("graphs_in_pools").read_text().splitlines(), 1)
                if words.strip() == "y = model(x)")
    for one in graphs["captures"]:
        assert [frame["line"] for frame in one["frames"] if frame["user"]][0] == line
    assert "CUDA graphs: 3 captures in 1 pool" in text


def test_memory_of_captures_is_no_leak(built, tmp_path):
    """As long as sizes are captured memory grows; nobody's calls have it, and no step is a capture."""
    done = recordings.run([runs.python(), programs.path("graphs_by_size")], tmp_path).expect(0)
    trace, = done.traces
    report = runs.report([trace], tmp_path)
    assert report["devices"][0]["graphs"]["count"] == 24
    grows, = (one for one in report["verdicts"] if one["subject"] == "device:0")
    assert (grows["answer"], grows["doubt"]["kind"]) == ("not_settled", "captures")
    assert "LEAKS" not in runs.report_text([trace])


def test_a_pool_whose_graphs_are_gone_is_unused(gone):
    truth, report, text = gone
    peak = sums_hold(report)
    assert peak["graph_pool_bytes"] == 0
    assert peak["unused"]["private_pools_bytes"] == \
        free_in(truth["pools"][truth["graphs"]]) + free_in(truth["pools"][truth["own"]])
    assert NEEDED not in text


def test_graphed_callables(built, tmp_path):
    truth, report, _ = record(tmp_path, "--callables")
    peak = sums_hold(report)
    others = {name: pool for name, pool in truth["pools"].items() if name not in ("0:0", truth["own"])}
    assert peak["graph_pool_bytes"] == sum(free_in(pool) for pool in others.values()) > 0
    assert report["devices"][0]["graphs"]["count"] == 2  # forward and backward
