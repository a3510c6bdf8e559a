# SPDX-License-Identifier: Apache-2.0
"""Ranks on simulated GPUs: they train, alike on every run, and the report says which one differs."""

import json

import jsonschema
import pytest

import rank_runs
import runs

SCHEMA = json.loads((runs.ROOT / "analyzer/show/json/report.schema.json").read_text())
MIB = 1 << 20


@pytest.fixture(scope="module")
def trained(built, tmp_path_factory):
    output = tmp_path_factory.mktemp("ranks")
    scenarios = ["ddp:2", "ddp:2", "fsdp1:2", "fsdp2:2", "ddp:4:2"]
    return dict(zip(["first", "second", "fsdp1", "fsdp2", "odd"], rank_runs.run(output, scenarios, devices=4)))


@pytest.fixture(scope="module")
def odd(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    for rank in trained["odd"]:
        (folder / rank.trace.name).symlink_to(rank.trace)
    document = runs.report([folder], folder)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return folder, document


@pytest.mark.slow
def test_data_parallel_ranks_allocate_the_same_every_time(trained):
    assert len(trained["first"]) == 2
    for first, second in zip(trained["first"], trained["second"], strict=True):
        sequence = first.allocations()
        assert len(sequence) > 1000
        assert sequence == second.allocations()


def test_sharded_ranks_hold_their_share(trained):
    import math

    for name in ("fsdp1", "fsdp2"):
        ranks = trained[name]
        assert len(ranks) == 2
        whole = parameters_of_the_model()
        shards = [rank.said["shard"] for rank in ranks]
        # Each unit is padded to a multiple of the number of ranks: fsdp1 a flat tensor, fsdp2 each row.
        assert whole <= sum(shards) <= whole * 1.01, (name, shards, whole)
        assert math.isclose(shards[0], shards[1], rel_tol=0.01)


def parameters_of_the_model():
    """As small_model.Transformer has them: embedding, three blocks, head."""
    vocabulary, width = 500, 256
    attention = 4 * width * width + 4 * width
    feed_forward = 2 * 4 * width * width + 5 * width
    norms = 4 * width
    return vocabulary * width + 3 * (attention + feed_forward + norms) + (width + 1) * vocabulary


def test_the_rank_that_differs_is_named_with_its_lines(trained, odd):
    _, document = odd
    said = {rank.said["rank"]: rank.said for rank in trained["odd"]}
    assert [row["rank"] for row in document["ranks"]] == [0, 1, 2, 3]
    for row in document["ranks"]:
        assert row["devices"][0]["peak_allocated_bytes"] == said[row["rank"]]["peak"]
        assert (row["device"], row["world_size"], row["attempt"]) == (row["rank"], 4, 0)
    peaks = [one for one in document["rank_differences"] if one["measure"] == "peak_allocated"]
    assert [one["rank"] for one in peaks] == [2]
    assert peaks[0]["value"] == said[2]["peak"]
    assert peaks[0]["usual"] == said[0]["peak"]
    assert peaks[0]["lines"][0]["category"] == "activations"
    assert "small_model.py" in peaks[0]["lines"][0]["where"]
    assert {one["rank"] for one in document["rank_differences"]} == {2}
    assert document["missing_ranks"] == []


def test_a_person_is_told(odd):
    folder, _ = odd
    text = runs.report_text([folder])
    assert "4 ranks, peaks from" in text
    assert "rank 2 peaks at" in text
    assert len(text.splitlines()) <= 36


def test_ranks_without_a_trace_are_missing(trained, tmp_path):
    kept = [rank.trace for rank in trained["odd"] if rank.said["rank"] in (0, 3)]
    document = runs.report(kept, tmp_path)
    assert document["missing_ranks"] == [1, 2]
    assert document["rank_differences"] == []


def test_memory_shared_between_processes_counts_once(built, tmp_path):
    command = [runs.python(), str(rank_runs.PROGRAMS / "shared_tensor.py"), "spawn"]
    done = runs.run(command, tmp_path, gpu=rank_runs.GPU).expect(0)
    said = {one["role"]: one for one in map(json.loads, filter(None, done.stdout.splitlines()))}
    document = runs.report(done.traces, tmp_path)
    shared = [one for one in document["shared_memory"] if one["owner"]]
    assert sum(one["bytes"] for one in shared) >= said["user"]["bytes"]
    for one in shared:
        assert one["opened_by"]["pid"] == said["user"]["pid"]
        assert one["owner"]["pid"] == said["owner"]["pid"]
    peaks = {row["pid"]: row["devices"][0]["peak_allocated_bytes"] for row in document["ranks"]}
    assert said["user"]["bytes"] <= peaks[said["user"]["pid"]] < said["user"]["bytes"] + MIB


@pytest.mark.slow
@pytest.mark.skipif(not (rank_runs.DEEPSPEED / "deepspeed").is_dir(),
                    reason="DeepSpeed is not installed: tests/answers/ranks/make_results.py installs it")
def test_deepspeed_allocates_the_same_every_time(built, tmp_path):
    for stage, first, second in (("zero2", *rank_runs.run(tmp_path / "2", ["zero2:2", "zero2:2"], devices=2)),
                                 ("zero3", *rank_runs.run(tmp_path / "3", ["zero3:2", "zero3:2"], devices=2))):
        assert len(first) == 2
        for one, other in zip(first, second, strict=True):
            assert len(one.allocations()) > 100
            assert one.allocations() == other.allocations(), stage
