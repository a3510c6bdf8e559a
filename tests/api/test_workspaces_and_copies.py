# SPDX-License-Identifier: Apache-2.0
"""What calls of CUDA and its libraries say about memory."""

import pytest

import records

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
        "cublas", "cublasLt", "cudnn",
    }


def test_a_workspace_is_a_block_of_that_size(told):
    checked = 0
    for record, live in live_blocks(told):
        if record["kind"] == "storage" and record["role"] == "workspace":
            assert live[record["address"]] == record["bytes"]
            checked += 1
    assert checked >= 3


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
