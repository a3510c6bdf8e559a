# SPDX-License-Identifier: Apache-2.0
"""`memtrace export --format snapshot` beside PyTorch's own snapshot of the same run, and what its readers need."""

import pytest

import made
import runs
import snapshots

CASES = [pytest.param(case, marks=() if case in made.QUICK else pytest.mark.slow) for case in made.CASES]
CATEGORIES = {
    "weights", "buffers", "gradients", "optimizer_states", "activations", "inputs", "temporaries", "workspace", "outputs",
    "kv_cache", "collected", "other", "unknown",
}
ACTIONS = {
    "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom",
}


@pytest.fixture(scope="module", params=CASES)
def one(request, built, tmp_path_factory):
    return request.param, made.run(request.param, tmp_path_factory.mktemp("run"))


def test_it_equals_pytorchs_own(one):
    case, run = one
    found = snapshots.compare(run.truth, run.exported)
    assert found.events > 100 and found.with_frames > 50 and found.segments > 0 and found.blocks > found.segments
    assert {"active_allocated", "inactive"} <= found.states
    if "side_streams" in case or case == "two_devices":
        assert "active_pending_free" in found.states
    if "expandable" in case:
        assert any(segment["is_expandable"] for segment in run.exported["segments"])
    if case.startswith("cuda_graph"):
        assert any(segment["segment_pool_id"] != (0, 0) for segment in run.exported["segments"])
    assert found.different == 0, "\n".join(found.shown)


def test_memtrace_reads_it_as_it_reads_the_recording(one, tmp_path):
    """There and back: peaks, who held them, and fragmentation are the recording's, to the byte."""
    _, run = one

    def said(of, name):
        (tmp_path / name).mkdir()
        report = runs.report([of], tmp_path / name)
        return [
            (device["index"], device["peak_allocated_bytes"], device["peak_reserved_bytes"],
             {one["category"]: one["bytes"] for one in device["at_peak"]["categories"] if one["bytes"]})
            for device in report["devices"]
        ], [
            (found["device"], found["peak_reserved_bytes"], found["peak_allocated_bytes"], found["lower_bound_bytes"])
            for found in report["fragmentation"]
        ]

    recorded = said(run.trace, "recorded")
    assert recorded[0] and recorded[1] and all(categories for *_, categories in recorded[0])
    assert said(run.file, "exported") == recorded


def test_the_viewer_can_read_all_of_it(one):
    _, run = one
    assert snapshots.foreign_opcodes(run.file) == set()
    events = [event for device in run.exported["device_traces"] for event in device]
    assert any(event.get("category") == "unknown" for event in events)  # without one it stops
    for event in events:
        assert event["frames"] or event["action"] == "snapshot"
        if event["action"] == "alloc":
            assert event["category"] in CATEGORIES
            assert event["user_metadata"].startswith(f"category: {event['category']}")


def test_undoing_its_events_leaves_nothing(one):
    _, run = one
    for device in range(len(run.exported["device_traces"])):
        assert snapshots.undo(run.exported, device) == ({}, {})


def test_a_part_of_it_ends_as_it_did(one, tmp_path):
    """Its last events, before them the allocations of what lived already, and the segments at its end."""
    _, run = one
    whole = run.exported["device_traces"]
    part = made.export(run.trace, tmp_path / "part.pickle", "--top", "100")
    assert part["segments"] == run.exported["segments"]
    for device, events in enumerate(part["device_traces"]):
        if not whole[device]:
            continue
        # A few of the 100 are the taking of the snapshot and the mark that names `unknown`.
        last, wanted = ([snapshots.facts_of(event) for event in found if event["action"] != "snapshot"][-95:]
                        for found in (events, whole[device]))
        assert last == wanted
        assert snapshots.undo(part, device)[1] == {}  # what lived before comes first
        assert events[0]["category"] == "unknown"


def test_a_window_of_it_begins_with_what_was_there(one, tmp_path):
    _, run = one
    recorded = [line for line in runs.dump(run.trace, stacks=False) if line["kind"] in ACTIONS]
    first, last = recorded[len(recorded) // 3]["n"], recorded[len(recorded) * 2 // 3]["n"]
    part = made.export(run.trace, tmp_path / "part.pickle", "--from", f"event:{first}", "--to", f"event:{last}")
    wanted = {device: [] for device in range(len(part["device_traces"]))}
    for line in recorded:
        if first <= line["n"] <= last:
            where = line["device_free"] if line["kind"] == "oom" else line["address"]
            wanted[line["device"]].append((line["kind"], where, line["size"], line["stream"]))
    assert sum(map(len, wanted.values())) > 40
    for device, events in enumerate(part["device_traces"]):
        assert snapshots.undo(part, device) == ({}, {})
        facts = [snapshots.facts_of(event) for event in events]
        before = len(facts) - len(wanted[device])
        assert facts[before:] == wanted[device]
        assert {fact[0] for fact in facts[:before]} <= {"segment_alloc", "segment_map", "alloc", "free_requested", "snapshot"}


def test_pytorchs_own_functions_take_it(one):
    _, run = one
    viz = made.viz_module()
    assert viz.segsum(run.exported) == viz.segsum(run.truth)
    traces = [snapshots.without_last_snapshots(events) for events in run.exported["device_traces"]]
    # An event that it has no words for, such as segment_map, it prints as a dict.
    printed = [[line for line in viz.trace(snapshot).splitlines() if not line.startswith("{")]
               for snapshot in ({**run.exported, "device_traces": traces}, run.truth)]
    assert printed[0] == printed[1] and len(printed[0]) > 50
    assert "add_local_files" in viz.trace_plot(run.exported)
    as_lines = [viz.memory(snapshot, format_flamegraph=str.splitlines) for snapshot in (run.exported, run.truth)]
    # Others differ by intent (snapshots.py): without a frame in PyTorch's, and free blocks.
    left_out = ("<non-python>", *snapshots.MARKS, ";inactive;")
    alike = [[line for line in lines if not any(mark in line for mark in left_out)] for lines in as_lines]
    assert alike[0] == alike[1] and alike[0]
