# SPDX-License-Identifier: Apache-2.0
"""The summary of a run: by `memtrace report --json`, so that it says what the report says."""

from __future__ import annotations

import contextlib
import functools
import getpass
import io
import json
import os
import pwd
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from memtrace import _tool
from memtrace.fleet import facts, lists, parquet, schema
from memtrace.fleet.errors import FleetError, needed
from memtrace.fleet.identity import Run


MOST_BYTES = 50_000
# The lists that are sorted, the most important first.
_SHORTENED = ("lines", "counters", "phase_categories", "categories", "phases", "advice", "verdicts", "culprits", "combined")


class Told(NamedTuple):
    """The facts that the traces do not hold."""

    project: Optional[str] = None  # None: the script's name
    user: Optional[str] = None  # None: the owner of the trace
    labels: Tuple[Tuple[str, str], ...] = ()
    scrub: bool = False


class Summary(NamedTuple):
    run_id: str
    date: str
    project: str
    events: int  # of all processes
    content: bytes  # of the Parquet file
    truncated: List[str]  # traces that lack something
    missing: List[str]  # that nothing could be read of


@functools.lru_cache(maxsize=None)
def _version() -> str:
    return _tool.run(["--version"]).stdout.strip()


def report_of(run: Run, scrub: bool) -> Dict[str, Any]:
    """FleetError: it cannot be made, with the command's own sentence."""
    with tempfile.TemporaryDirectory(prefix="memtrace-") as folder:
        written = Path(folder) / "report.json"
        problem = None
        try:
            _tool.run(["report", *run.traces, *(["--scrub"] if scrub else []), "--json", written])
        except _tool.ToolFailed as failed:  # also where it read what is left of a damaged trace
            problem = str(failed)
            if failed.status < 0:
                raise FleetError(f"{run.traces[0]}: memtrace report was ended by signal {-failed.status}; report that as "
                                 "a bug, or give it more memory if the kernel ended it") from None
        if not written.exists():
            raise FleetError(problem or f"{run.traces[0]}: no report was written")
        return json.loads(written.read_text(encoding="utf-8"))


def _recorded_by(trace: Path) -> Optional[str]:
    """The version of memtrace that recorded it stands at the beginning; None: it does not say."""
    try:
        with contextlib.closing(_tool.lines(["dump", trace])) as records:
            for line in records:
                record = json.loads(line)
                if record.get("kind") != "info":
                    return None
                if record["key"] == "memtrace_version":
                    return record["value"]
    except (_tool.ToolFailed, ValueError):
        pass
    return None


def _owner(trace: Path) -> str:
    number = os.stat(trace).st_uid
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # an account of another machine
        return getpass.getuser() if number == os.getuid() else str(number)


def _trace_of(process: Dict[str, Any], run: Run) -> int:
    """The number of the trace that the report tells of; scrubbed copies have the same names."""
    told = process["trace"]
    for number, trace in enumerate(run.traces):
        if str(trace) == told:
            return number
    same = [number for number, trace in enumerate(run.traces) if trace.name == os.path.basename(told)]
    if not same:
        raise FleetError(f"{told}: the report tells of a trace that was not given")
    return same[0]


def rows_of(run: Run, report: Dict[str, Any], told: Told) -> List[Dict[str, Any]]:
    """A row for each process."""
    now = time.time_ns()
    rows = []
    for number, process in enumerate(report["processes"]):
        at = _trace_of(process, run)
        trace = run.traces[at]
        row = facts.row(report, number)
        row.update({
            "schema_version": schema.VERSION, "run_id": run.run_id, "process": run.processes[at],
            "project_name": told.project or row["script"],
            "user_name": told.user or (None if told.scrub else _owner(trace)),
            "memtrace": _recorded_by(trace), "added_ns": now, "added_by": _version(), "scrubbed": told.scrub,
            "trace": None if told.scrub else trace.name, "trace_bytes": trace.stat().st_size,
            "labels": [{"label": name, "label_value": value} for name, value in told.labels],
            **lists.of_process(report, row["pid"])})
        rows.append(row)
    if not rows:
        raise FleetError(f"{run.traces[0]}: the report tells of no process")
    return rows


def as_parquet(rows: List[Dict[str, Any]]) -> bytes:
    pa = needed("pyarrow")
    table = pa.Table.from_pylist(rows, schema=schema.arrow_schema())
    sink = io.BytesIO()
    # A page's statistics and dictionaries are larger than what a run has of most columns.
    parquet.write(table, sink, use_dictionary=False, write_statistics=False)
    return sink.getvalue()


def fitted(rows: List[Dict[str, Any]]) -> bytes:
    """A file of at most MOST_BYTES a row: of what there is most of, the least important is left out until it fits."""
    content = as_parquet(rows)
    keep = 32
    while len(content) > MOST_BYTES * len(rows) and keep > 1:
        keep //= 2
        rows = [{**row, **{name: row[name][:keep] for name in _SHORTENED}} for row in rows]
        content = as_parquet(rows)
    return content


def _reports(run: Run, scrub: bool) -> Iterator[Tuple[Run, Dict[str, Any]]]:
    """One of all traces; of each one where process ids do not tell processes apart, as in containers."""
    whole = report_of(run, scrub)
    pids = [process["run"]["pid"] for process in whole["processes"]]
    if len(set(pids)) == len(pids):
        yield run, whole
        return
    for trace, process in zip(run.traces, run.processes):
        alone = Run([trace], [process], run.run_id, run.date)
        yield alone, report_of(alone, scrub)


def of_run(run: Run, told: Told) -> Summary:
    """FleetError: it cannot be made."""
    rows: List[Dict[str, Any]] = []
    for part, report in _reports(run, told.scrub):
        rows += rows_of(part, report, told)
    first = min(rows, key=lambda row: row["started_ns"])
    for row in rows:  # one run, one partition
        row["run_date"], row["project_name"] = first["run_date"], first["project_name"]
    rows.sort(key=lambda row: (row["attempt"], row["rank"] is None, row["rank"] or 0, row["process"]))
    if told.scrub:  # memtrace scrub leaves names of fewer than three letters
        hosts = sorted({row["host"] or "" for row in rows})
        for row in rows:
            row["host"] = f"host{hosts.index(row['host'] or '') + 1}"
    names = dict(zip(run.processes, run.traces))
    read = {row["process"] for row in rows}
    return Summary(run.run_id, first["run_date"], first["project_name"], sum(row["events"] for row in rows),
                   fitted(rows), [str(names[row["process"]]) for row in rows if row["truncated"]],
                   [str(trace) for process, trace in names.items() if process not in read])
