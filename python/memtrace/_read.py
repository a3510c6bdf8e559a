# SPDX-License-Identifier: Apache-2.0
"""Recordings as tables: lists of dicts, pandas or Arrow.

Each table has one row for what it is named after, its columns always in the same order and of the same
type, also when it is empty: sizes are int64 bytes, times int64 nanoseconds since the recording began.
A missing number is None, pandas' NA or Arrow's null."""

from __future__ import annotations

import bisect
import functools
import json
import os
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

from memtrace import _report, _tool

Column = Tuple[str, type, str]  # name, type, what it says

EVENTS: List[Column] = [
    ("trace", str, "the file"), ("pid", int, "process"), ("event", int, "its number in the trace"),
    ("kind", str, "alloc, free_requested, free_completed, segment_alloc, …, as `memtrace dump` says"),
    ("time_ns", int, ""), ("device", int, ""), ("thread", int, ""), ("stream", int, "its handle"),
    ("address", int, ""), ("bytes", int, "as asked for"),
    ("block_bytes", int, "what it adds to the allocated bytes: negative for a free"),
    ("allocated_bytes", int, "of the device, after it"), ("reserved_bytes", int, "of the device, after it"),
    ("line", str, "file:line function, innermost first frame of the user's or else of any Python code"),
]
BLOCKS: List[Column] = [
    ("trace", str, "the file"), ("pid", int, "process"), ("device", int, ""), ("address", int, ""),
    ("bytes", int, "as asked for"), ("block_bytes", int, "as PyTorch counts it, rounded"),
    ("stream", int, "its handle"), ("thread", int, "that asked for it"),
    ("allocated_event", int, "number in the trace"), ("allocated_ns", int, ""),
    ("freed_event", int, "number in the trace; missing: still allocated at the end"), ("freed_ns", int, ""),
    ("step", int, "in which it was allocated, from 0; missing: after the last complete one"),
    ("line", str, "file:line function that asked for it"),
]
STEPS: List[Column] = [
    ("trace", str, "the file"), ("pid", int, "process"), ("device", int, ""), ("step", int, "from 0"),
    ("end_event", int, ""), ("end_ns", int, ""), ("end_allocated_bytes", int, "what it leaves allocated"),
    ("peak_event", int, ""), ("peak_allocated_bytes", int, ""),
]
_INSTALLED = "/site-packages/", "/dist-packages/", "/lib/python3", "<frozen"


class Recording:
    """A recording, of one process or of several. Read when asked, and again when asked again."""

    def __init__(self, path: Any):
        paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
        self._paths = [os.fspath(one) for one in paths]
        if not self._paths:
            raise ValueError("name a trace (*.mtrace) or the directory with them")
        for one in self._paths:
            if not os.path.exists(one):
                raise FileNotFoundError(f"{one} is not there; name a trace (*.mtrace) or the directory with them")

    @functools.cached_property
    def report(self) -> _report.Report:
        return _report.of(self._paths)

    def __repr__(self) -> str:
        return f"memtrace.read({self._paths!r})"

    def events(self, as_: str = "") -> Any:
        """Every event of an allocator or of CUDA."""
        return _table(EVENTS, self._events(), as_)

    def blocks(self, as_: str = "") -> Any:
        """Every allocation of PyTorch's allocator, with its end."""
        return _table(BLOCKS, self._blocks(), as_)

    def steps(self, as_: str = "") -> Any:
        """Every complete step, of each process and device (the first 10,000)."""
        return _table(STEPS, self._steps(), as_)

    def _processes(self) -> List[Tuple[str, int]]:
        return [(process.trace, process.run.pid) for process in self.report.processes]

    def _events(self) -> Iterator[Dict[str, Any]]:
        for trace, pid in self._processes():
            for record in _records(trace):
                if "n" in record and "t_ns" in record:
                    yield _event(trace, pid, record)

    def _blocks(self) -> Iterator[Dict[str, Any]]:
        ends = self._step_ends()
        for trace, pid in self._processes():
            alive: Dict[Tuple[int, int], Dict[str, Any]] = {}
            rows = []
            for record in _records(trace):
                added = record.get("block", 0)
                if record.get("kind") == "alloc":
                    row = _block(trace, pid, record, ends.get((pid, record["device"]), []))
                    alive[record["device"], record["address"]] = row
                    rows.append(row)
                elif added < 0:
                    freed = alive.pop((record["device"], record["address"]), None)
                    if freed is not None:
                        freed.update(freed_event=record["n"], freed_ns=record["t_ns"])
            yield from rows

    def _steps(self) -> Iterator[Dict[str, Any]]:
        traces = {pid: trace for trace, pid in self._processes()}
        for series in self.report.steps.series:
            for number, step in enumerate(series.steps):
                yield {"trace": traces.get(series.pid), "pid": series.pid, "device": series.device, "step": number,
                       "end_event": step.end_event, "end_ns": step.end_ns,
                       "end_allocated_bytes": step.end_allocated_bytes, "peak_event": step.peak_event,
                       "peak_allocated_bytes": step.peak_allocated_bytes}

    def _step_ends(self) -> Dict[Tuple[int, int], List[int]]:
        return {(series.pid, series.device): [step.end_event for step in series.steps]
                for series in self.report.steps.series}


def _records(trace: str) -> Iterator[Dict[str, Any]]:
    for line in _tool.lines(["dump", trace]):
        yield json.loads(line)


def _line(record: Dict[str, Any]) -> Any:
    """The innermost frame that is the user's own; else the innermost."""
    frames = record.get("stack") or []
    own = [frame for frame in frames if not any(part in frame["file"] for part in _INSTALLED)]
    if not frames:
        return None
    frame = (own or frames)[0]
    return f"{frame['file']}:{frame['line']} {frame['function']}"


def _event(trace: str, pid: int, record: Dict[str, Any]) -> Dict[str, Any]:
    return {"trace": trace, "pid": pid, "event": record["n"], "kind": record["kind"], "time_ns": record["t_ns"],
            "device": record.get("device"), "thread": record.get("thread"), "stream": record.get("stream"),
            "address": record.get("address"), "bytes": record.get("size"), "block_bytes": record.get("block"),
            "allocated_bytes": record.get("allocated"), "reserved_bytes": record.get("reserved"),
            "line": _line(record)}


def _block(trace: str, pid: int, record: Dict[str, Any], ends: List[int]) -> Dict[str, Any]:
    step = bisect.bisect_left(ends, record["n"])
    return {"trace": trace, "pid": pid, "device": record["device"], "address": record["address"],
            "bytes": record["size"], "block_bytes": record["block"], "stream": record.get("stream"),
            "thread": record["thread"], "allocated_event": record["n"], "allocated_ns": record["t_ns"],
            "freed_event": None, "freed_ns": None, "step": step if step < len(ends) else None,
            "line": _line(record)}


def _table(columns: List[Column], rows: Iterator[Dict[str, Any]], as_: str) -> Any:
    made = {"": _best, "rows": _as_rows, "pandas": _as_pandas, "arrow": _as_arrow}.get(as_)
    if made is None:
        raise ValueError(f"as_ must be 'pandas', 'arrow' or 'rows', not {as_!r}")
    return made(columns, rows)


def _best(columns: List[Column], rows: Iterator[Dict[str, Any]]) -> Any:
    for module, made in (("pandas", _as_pandas), ("pyarrow", _as_arrow)):
        try:
            __import__(module)
        except ImportError:
            continue
        return made(columns, rows)
    return _as_rows(columns, rows)


def _as_rows(columns: List[Column], rows: Iterator[Dict[str, Any]]) -> List[Dict[str, Any]]:
    return list(rows)


def _columns(columns: List[Column], rows: Iterator[Dict[str, Any]]) -> Dict[str, List[Any]]:
    values: Dict[str, List[Any]] = {name: [] for name, _, _ in columns}
    for row in rows:
        for name, held in values.items():
            held.append(row[name])
    return values


def _as_pandas(columns: List[Column], rows: Iterator[Dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("as_='pandas' needs pandas: pip install pandas, or take as_='rows'") from None
    values = _columns(columns, rows)
    types = {int: "Int64", str: "string"}
    return pandas.DataFrame({name: pandas.array(values[name], dtype=types[kind]) for name, kind, _ in columns})


def _as_arrow(columns: List[Column], rows: Iterator[Dict[str, Any]]) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError("as_='arrow' needs pyarrow: pip install pyarrow, or take as_='rows'") from None
    values = _columns(columns, rows)
    types = {int: pyarrow.int64(), str: pyarrow.string()}
    return pyarrow.table({name: pyarrow.array(values[name], type=types[kind]) for name, kind, _ in columns})


def read(path: Any) -> Recording:
    """Reads a trace, several, or a directory. Raises FileNotFoundError; ToolFailed once it is read."""
    return Recording(Path(path) if isinstance(path, str) else path)
