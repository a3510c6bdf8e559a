# SPDX-License-Identifier: Apache-2.0
"""memtrace.read(): tables that add up to PyTorch's own counters, to the byte."""

import sys

import pytest

import memtrace
from memtrace import _read
import runs


def blocks_of(recorded) -> list:
    return memtrace.read(recorded[1]).blocks("rows")


def test_blocks_are_pytorchs_allocations(recorded):
    said, _, _ = recorded
    blocks = blocks_of(recorded)
    live = [block for block in blocks if block["freed_event"] is None]
    assert len(blocks) == said["allocations"] and len(live) == said["live"]
    assert sum(block["block_bytes"] for block in live) == said["current"]
    assert sum(block["bytes"] for block in blocks) == said["requested"]


def test_the_peak_can_be_rebuilt_from_blocks(recorded):
    changes = []
    for block in blocks_of(recorded):
        changes.append((block["allocated_event"], block["block_bytes"]))
        if block["freed_event"] is not None:
            changes.append((block["freed_event"], -block["block_bytes"]))
            assert block["freed_ns"] >= block["allocated_ns"]
    now = peak = 0
    for _, added in sorted(changes):
        now += added
        peak = max(peak, now)
    assert peak == recorded[0]["peak"]


def test_blocks_know_their_line_and_step(recorded):
    blocks = blocks_of(recorded)
    source = runs.ROOT / "tests" / "trace" / "python_api" / "programs" / "asks_itself.py"
    line = next(number for number, text in enumerate(source.read_text().splitlines(), 1) if "5_000_000" in text)
    kept, = (block for block in blocks if block["bytes"] == 20_000_000)
    assert kept["line"] == f"{source}:{line} <module>"
    assert kept["step"] == 3, "it was allocated between the third step and the fourth"
    assert {block["step"] for block in blocks} >= {0, 1, 2, 3, 4, 5}


def test_steps_are_those_of_the_report(recorded):
    recording = memtrace.read(recorded[1])
    steps = recording.steps("rows")
    assert [step["step"] for step in steps] == list(range(6))
    assert max(step["peak_allocated_bytes"] for step in steps) == recorded[0]["peak"]
    assert all(step["end_ns"] > 0 for step in steps)


def test_events_carry_the_totals(recorded):
    events = memtrace.read(recorded[1]).events("rows")
    totals = [event["allocated_bytes"] for event in events if event["allocated_bytes"] is not None]
    assert max(totals) == recorded[0]["peak"] and totals[-1] == recorded[0]["current"]
    assert {"alloc", "free_requested", "segment_alloc", "cuda_call"} <= {event["kind"] for event in events}


@pytest.mark.parametrize(("table", "columns"), [
    ("events", _read.EVENTS), ("blocks", _read.BLOCKS), ("steps", _read.STEPS)])
def test_the_three_forms_hold_the_same(recorded, table, columns):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    read = getattr(memtrace.read(recorded[1]), table)
    rows, frame, arrow = read("rows"), read("pandas"), read("arrow")
    names = [name for name, _, _ in columns]
    assert list(rows[0]) == list(frame.columns) == arrow.column_names == names
    assert arrow.to_pylist() == rows and len(rows) > 0
    assert frame.astype(object).where(frame.notna(), None).to_dict("records") == rows
    for name, kind, _ in columns:
        assert str(frame[name].dtype) == {int: "Int64", str: "string"}[kind]
        assert arrow.schema.field(name).type == {int: pyarrow.int64(), str: pyarrow.string()}[kind]
    assert isinstance(read(), pandas.DataFrame)


@pytest.mark.parametrize("columns", [_read.EVENTS, _read.BLOCKS, _read.STEPS])
def test_an_empty_table_has_its_columns(columns):
    pytest.importorskip("pandas")
    assert _read._as_rows(columns, iter(())) == []
    frame, arrow = _read._as_pandas(columns, iter(())), _read._as_arrow(columns, iter(()))
    assert list(frame.columns) == arrow.column_names == [name for name, _, _ in columns]
    assert {str(frame[name].dtype) for name, kind, _ in columns if kind is int} == {"Int64"}


@pytest.mark.parametrize(("missing", "as_"), [("pandas", "pandas"), ("pyarrow", "arrow")])
def test_without_the_library_rows_remain(recorded, monkeypatch, missing, as_):
    for name in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    recording = memtrace.read(recorded[1])
    with pytest.raises(ImportError, match=f"pip install {missing}, or take as_='rows'"):
        recording.steps(as_)
    assert recording.steps() == recording.steps("rows")


def test_bad_input_gets_one_sentence(recorded, tmp_path):
    with pytest.raises(FileNotFoundError, match="is not there; name a trace"):
        memtrace.read(tmp_path / "no-such")
    with pytest.raises(ValueError, match="name a trace"):
        memtrace.read([])
    with pytest.raises(ValueError, match="'pandas', 'arrow' or 'rows', not 'csv'"):
        memtrace.read(recorded[1]).blocks("csv")
    with pytest.raises(memtrace.ToolFailed):
        memtrace.read(tmp_path).blocks("rows")
