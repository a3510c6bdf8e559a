# SPDX-License-Identifier: Apache-2.0
"""memtrace fleet add DIR TRACE…: the summary of each run into the store, once."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import io
import threading
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence

from memtrace import _tool
from memtrace.fleet import identity, parquet, summarize
from memtrace.fleet.errors import FleetError, StoreError, needed, say
from memtrace.fleet.identity import Run
from memtrace.fleet.store import MANY, Store


@dataclasses.dataclass
class Outcome:
    """The outcome of adding the runs; `failed` and `cut` are sentences."""

    added: int = 0
    replaced: int = 0
    known: int = 0  # were there already
    failed: List[str] = dataclasses.field(default_factory=list)
    cut: List[str] = dataclasses.field(default_factory=list)
    unwritten: List[Sequence[Path]] = dataclasses.field(default_factory=list)  # of failed: the store's fault


class Held(NamedTuple):
    """The sources of a run's summary."""

    events: int
    trace_bytes: int


class Together:
    """Which runs stand in files that hold many: read once a date."""

    def __init__(self, store: Store):
        self._store = store
        self._runs: Dict[str, Dict[str, Held]] = {}
        self._lock = threading.Lock()

    def held(self, run: Run) -> Optional[Held]:
        """None: it is not there."""
        if run.date is None:
            return None
        with self._lock:
            if run.date not in self._runs:
                self._runs[run.date] = self._read(run.date)
            return self._runs[run.date].get(run.run_id)

    def _read(self, date: str) -> Dict[str, Held]:
        needed("pyarrow.parquet")
        found: Dict[str, Held] = {}
        for path in self._store.files_of(MANY, date):
            with self._store.files.open(path, "rb") as file, parquet.opened(file) as held:
                rows = parquet.read(held, ["run_id", *Held._fields]).to_pylist()
            for row in rows:
                so_far = found.get(row["run_id"], Held(0, 0))
                found[row["run_id"]] = Held(so_far.events + row["events"], so_far.trace_bytes + row["trace_bytes"])
        return found


def _held_in(store: Store, path: str) -> Optional[Held]:
    """None: it cannot be read, so it is to be written again."""
    needed("pyarrow.parquet")
    try:
        with parquet.opened(io.BytesIO(store.files.cat_file(path))) as held:
            rows = parquet.read(held, Held._fields)
        return Held(*(sum(rows.column(name).to_pylist()) for name in Held._fields))
    except Exception:  # whatever is wrong with it
        return None


def add_run(store: Store, run: Run, told: summarize.Told, again: bool, together: Together, outcome: Outcome) -> None:
    """Raises FleetError where it was not added."""
    outcome.failed += run.refused
    there = store.files_of(run.run_id, run.date)
    held = [_held_in(store, path) for path in there] or [together.held(run)]
    known = [one for one in held if one is not None]
    whole = len(known) == len(held)
    if whole and not again and sum(trace.stat().st_size for trace in run.traces) in {one.trace_bytes for one in known}:
        outcome.known += 1
        return
    made = summarize.of_run(run, told)
    outcome.cut += [f"{trace}: is cut off; its summary holds what is left of it" for trace in made.truncated]
    outcome.failed += [f"{trace}: could not be read, and is missing in its run" for trace in made.missing]
    if whole and not again and max(one.events for one in known) > made.events:  # it was cut off since
        outcome.known += 1
        return
    path = store.path_of(made.date, made.project, made.run_id)
    store.write(path, made.content)
    for old in there:  # under another project
        if old != path:
            store.delete(old)
    if whole:
        outcome.replaced += 1
    else:
        outcome.added += 1


def attempt(store: Store, traces: Sequence[Path], told: summarize.Told, again: bool, together: Together,
            outcome: Outcome) -> None:
    """As add_run; what does not work out is in the outcome."""
    try:
        add_run(store, identity.run_of(traces), told, again, together, outcome)
    except (FleetError, _tool.ToolFailed, _tool.ToolMissing) as error:
        outcome.failed.append(str(error))
        if isinstance(error, StoreError):
            outcome.unwritten.append(traces)
    except OSError as error:
        outcome.failed.append(f"{error.filename or traces[0]}: {error.strerror or error}")


def runs_named(paths: Sequence[str], each: bool, outcome: Outcome) -> List[List[Path]]:
    """The traces of each run that the paths name."""
    runs: List[List[Path]] = []
    for path in paths:
        try:
            found = identity.groups(path)
        except FleetError as error:
            outcome.failed.append(str(error))
            continue
        runs += [[trace] for traces in found for trace in traces] if each else found
    return runs


def add(store: Store, runs: Sequence[Sequence[Path]], told: summarize.Told, again: bool, jobs: int,
        outcome: Outcome) -> None:
    """Several at once: the work is done by the memtrace command, a process each."""
    together = Together(store)
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        for done in [pool.submit(attempt, store, traces, told, again, together, outcome) for traces in runs]:
            done.result()


def tell(outcome: Outcome, place: str) -> int:
    """Says what was done. 1: something was not."""
    for sentence in outcome.cut + outcome.failed:
        say(sentence)
    parts = [f"{number} {what}" for number, what in (
        (outcome.added, "added"), (outcome.replaced, "replaced by a newer summary"),
        (outcome.known, "already there"), (len(outcome.failed), "not added")) if number]
    say(f"{place}: runs: {', '.join(parts) or 'none named'}; next: memtrace fleet report {place}")
    return 1 if outcome.failed else 0
