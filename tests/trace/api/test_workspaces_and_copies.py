# SPDX-License-Identifier: Apache-2.0
"""Calls of CUDA and its libraries, and what they say about memory."""

import subprocess

import pytest

import records
import runs

pytestmark = pytest.mark.usefixtures("built")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return records.python("workspaces", tmp_path_factory.mktemp("workspaces")).expect(0)


@pytest.fixture(scope="module")
def told(outcome):
    return records.only_trace(outcome)


def live_blocks(told):
    """Each record with the blocks that are alive at it: address to size."""
    live = {}
    for record in told:
        if record["kind"] == "alloc":
            live[record["address"]] = record["size"]
        elif record["kind"] == "free_completed":
            live.pop(record["address"], None)
        yield record, dict(live)


def test_each_librarys_workspace(told):
    assert {record["name"] for record in records.storages(told, "workspace")} == {
        "cublas", "cublasLt", "cudnn", "cufft",
    }


def test_a_workspace_is_a_block_of_that_size(told):
    checked = 0
    for record, live in live_blocks(told):
        if record["kind"] == "storage" and record["role"] == "workspace":
            told_bytes = live[record["address"]] if record["name"] == "cufft" else record["bytes"]
            assert live[record["address"]] == told_bytes  # cuFFT is not told the size
            checked += 1
    assert checked >= 4


@pytest.mark.parametrize("older", [False, True], ids=["plans", "older calls"])
def test_what_convolutions_ask_for(tmp_path, older):
    """cuDNN's plans get theirs as an attribute, by address alone; the older calls as an argument."""
    asked = 3 << 20
    outcome = records.python("convolution", tmp_path, env={
        "MEMTRACE_SIM_CONSTANTS": f"cudnn_workspace={asked}", "TORCH_CUDNN_V8_API_DISABLED": str(int(older)),
    })
    told = records.only_trace(outcome)
    found = [live[record["address"]] for record, live in live_blocks(told)
             if record["kind"] == "storage" and record["role"] == "workspace"]
    assert len(found) >= 2  # forward and backward
    assert set(found) == {asked}
    assert {record["bytes"] for record in records.storages(told, "workspace")} == {asked if older else 0}
    every = {record["address"] for record in told if record["kind"] == "alloc" and record["size"] == asked}
    assert {record["address"] for record in records.storages(told, "workspace")} == every


def test_copies_from_the_host_and_only_these(outcome, told):
    copies = records.storages(told, "host_copy")
    assert (copies[0]["address"], copies[0]["bytes"]) == (
        int(records.said(outcome, "copied")[0]), 64 * 256 * 4,
    )
    # The rest is the LSTM's: two weights and two biases of 4 gates with 32 units each.
    assert sorted(copy["bytes"] for copy in copies[1:]) == [512, 512, 16384, 16384]
    for record, live in live_blocks(told):
        if record["kind"] == "storage" and record["role"] == "host_copy":
            assert live[record["address"]] == record["bytes"]


def test_two_versions_of_a_library_in_one_process(compiled, tmp_path):
    """A call must reach the version that the calling framework was linked with."""
    frameworks = [compiled("framework98.so"), "use_version_98", compiled("framework99.so"), "use_version_99"]
    # Not on the simulated GPU, which has a cuBLAS of its own in front of all.
    process = subprocess.run(
        [compiled("two_versions"), *frameworks], capture_output=True, check=True,
        env=runs.environment({"LD_PRELOAD": str(runs.library()), "MEMTRACE_OUTPUT": str(tmp_path),
                              "LD_LIBRARY_PATH": str(compiled("libcudart.so.13").parent)}),
    )
    reached = [f"{compiled(f'framework{version}.so')} {version}" for version in (98, 99)]
    assert process.stdout.decode().splitlines() == 2 * reached
    (trace,) = runs.traces_in(tmp_path)
    pieces = [record["address"] for record in records.storages(runs.dump(trace), "workspace")]
    assert pieces == [pieces[0] + 512 * call for call in range(4)]  # each is told of once, in its turn
