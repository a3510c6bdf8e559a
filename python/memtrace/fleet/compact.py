# SPDX-License-Identifier: Apache-2.0
"""memtrace fleet compact DIR: the runs of a date into few files, which are read faster than one a run.

Whenever it is stopped, and whoever else does the same: the new file is there, whole, before what it holds is deleted,
and a process that stands in two files counts once."""

from __future__ import annotations

import hashlib
import io
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

from memtrace.fleet import gather, parquet
from memtrace.fleet.errors import needed, say
from memtrace.fleet.store import Entry, Store

ROWS_IN_A_FILE = 20_000  # some 200 MB at most
_ROWS_IN_A_GROUP = 1_000


class Done(NamedTuple):
    files: int  # that were put together
    into: int
    notes: List[str]  # on files that were left alone


def _best(table: Any) -> Any:
    """Each process once, by project and run: what is asked together lies together."""
    keys = table.select(["process", "events", "added_ns", "run_id", "project_name"]).to_pylist()
    chosen: Dict[str, int] = {}
    for number, row in enumerate(keys):
        held = chosen.get(row["process"])
        if held is None or _rank(row) < _rank(keys[held]):
            chosen[row["process"]] = number
    order = sorted(chosen.values(), key=lambda number: (keys[number]["project_name"], keys[number]["run_id"], number))
    return table.take(order)


def _rank(row: Dict[str, Any]) -> Any:
    return -row["events"], -row["added_ns"], row["run_id"]


def _content(table: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write(table, sink, row_group_size=_ROWS_IN_A_GROUP)
    return sink.getvalue()


def _groups(entries: Sequence[Entry]) -> Iterator[List[Entry]]:
    """By date. A file that holds many and is large is left as it is."""
    by_date: Dict[str, List[Entry]] = {}
    for entry in entries:
        by_date.setdefault(entry.date, []).append(entry)
    for of_date in by_date.values():
        group = [entry for entry in of_date if not (entry.holds_many and entry.size > 100_000_000)]
        if len(group) > 1 or (group and not group[0].holds_many):
            yield group


def _parts(store: Store, group: Sequence[Entry], notes: List[str]) -> Iterator[tuple]:
    """Entries and their tables, so many that a file holds them."""
    pa = needed("pyarrow")
    taken: List[Entry] = []
    tables: List[Any] = []
    for entry in group:
        try:
            table, problem = gather.one(store, entry.path)
        except gather.Gone:  # another one has put it together
            continue
        if problem:
            notes.append(problem)
            continue
        tables.append(table)
        taken.append(entry)
        if sum(table.num_rows for table in tables) >= ROWS_IN_A_FILE:
            yield taken, pa.concat_tables(tables)
            taken, tables = [], []
    if taken:
        yield taken, pa.concat_tables(tables)


def compact(store: Store, before_date: Optional[str] = None) -> Done:
    """Compacts all dates before that one; None: all."""
    store.require()
    store.sweep()
    files, into = 0, 0
    notes: List[str] = []
    entries = [entry for entry in store.entries() if before_date is None or entry.date < before_date]
    for group in _groups(entries):
        for taken, table in _parts(store, group, notes):
            if len(taken) == 1 and taken[0].holds_many:
                continue
            name = hashlib.sha256("\n".join(entry.path for entry in taken).encode()).hexdigest()[:16] + ".parquet"
            target = store.path_of_many(taken[0].date, name)
            store.write(target, _content(_best(table)))
            for entry in taken:
                if entry.path != target:
                    store.delete(entry.path)
            files, into = files + len(taken), into + 1
    return Done(files, into, notes)


def run(place: str, before_date: Optional[str]) -> int:
    done = compact(Store(place), before_date)
    for note in done.notes:
        say(note)
    say(f"{place}: {done.files} files put together into {done.into}" if done.files else
        f"{place}: nothing to put together")
    return 1 if done.notes else 0
