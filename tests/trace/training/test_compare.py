# SPDX-License-Identifier: Apache-2.0
"""The comparison itself finds what differs: one test a kind of difference, on hand-made records."""

import copy

import pytest

import compare

FRAMES = [{"filename": "train.py", "line": 7, "name": "step"}]


def entry(action, addr, size, stream=0):
    return {"action": action, "addr": addr, "size": size, "stream": stream, "pool_id": (0, 0),
            "frames": FRAMES}


def line(kind, address, size, **more):
    return {"n": 0, "kind": kind, "device": 0, "address": address, "size": size, "stream": 0,
            "pool": [0, 0], "stack": [{"file": "train.py", "line": 7, "function": "step"}], **more}


def totals(allocated, reserved):
    return {"allocated": allocated, "reserved": reserved,
            "replayed_allocated": allocated, "replayed_reserved": reserved}


@pytest.fixture
def same():
    truth = {
        "device_traces": [[entry("segment_alloc", 4096, 2097152), entry("alloc", 4096, 500),
                           entry("alloc", 4608, 100), entry("free_requested", 4096, 500),
                           entry("free_completed", 4096, 500)]],
        "segments": [{
            "address": 4096, "total_size": 2097152, "device": 0, "stream": 0,
            "segment_pool_id": (0, 0), "is_expandable": False,
            "blocks": [{"address": 4096, "requested_size": 0, "state": "inactive"},
                       {"address": 4608, "requested_size": 100, "state": "active_allocated"}],
        }],
        "memory_stats": [{
            "allocated_bytes.all.peak": 1024, "reserved_bytes.all.peak": 2097152,
            "allocated_bytes.all.current": 512, "reserved_bytes.all.current": 2097152,
            "requested_bytes.all.current": 100, "allocation.all.allocated": 2,
            "allocation.all.freed": 1, "active.all.freed": 1, "num_ooms": 0,
        }],
    }
    lines = [line("segment_alloc", 4096, 2097152), line("alloc", 4096, 500, **totals(512, 2097152)),
             line("alloc", 4608, 100, **totals(1024, 2097152)),
             line("free_requested", 4096, 500, **totals(512, 2097152)),
             line("free_completed", 4096, 500)]
    return truth, lines


def test_equal_records_have_no_difference(same):
    found = compare.compare(*same)
    assert (found.differences, found.events, found.stacks, found.totals) == (0, 5, 5, 3)
    assert found.shown == []


@pytest.mark.parametrize(("field", "value", "counter"), [
    ("size", 501, "missing"), ("address", 8192, "missing"), ("stream", 3, "missing"),
    ("pool", [0, 1], "missing"), ("kind", "free_requested", "missing"),
    ("stack", [], "different_stacks"), ("allocated", 511, "different_totals"),
    ("replayed_reserved", 0, "different_totals"),
])
def test_a_changed_field_is_a_difference(same, field, value, counter):
    truth, lines = same
    lines = copy.deepcopy(lines)
    lines[1][field] = value
    found = compare.compare(truth, lines)
    assert getattr(found, counter) > 0
    assert found.differences > 0 and found.shown


def test_a_missing_and_an_extra_event_are_counted(same):
    truth, lines = same
    assert compare.compare(truth, lines[:2] + lines[3:]).missing == 1
    assert compare.compare(truth, lines[:2] + [line("alloc", 9, 9, **totals(512, 2097152))]
                           + lines[2:]).extra == 1
    assert compare.compare(truth, lines[:-1]).missing == 1


def test_a_frame_of_another_line_is_a_difference(same):
    truth, lines = same
    lines[2]["stack"] = [{"file": "train.py", "line": 8, "function": "step"}]
    assert compare.compare(truth, lines).different_stacks == 1


def test_peaks_and_counts_are_held_against_memory_stats(same):
    truth, lines = same
    for name in truth["memory_stats"][0]:
        changed = copy.deepcopy(truth)
        changed["memory_stats"][0][name] += 1
        assert len(compare.compare(changed, lines).different_stats) == 1, name


def test_what_is_there_at_the_end_is_compared_with_its_pool(same):
    truth, lines = same
    truth["segments"][0]["segment_pool_id"] = (0, 1)
    assert len(compare.compare(truth, lines).different_stats) == 2
    truth["segments"][0].update(segment_pool_id=(0, 0), blocks=[])
    assert len(compare.compare(truth, lines).different_stats) == 1


def test_events_after_the_snapshot_do_not_count(same):
    truth, lines = same
    after = [{"n": 9, "kind": "snapshot", "device": 0}, line("alloc", 1, 1)]
    assert compare.compare(truth, lines + after).differences == 0
