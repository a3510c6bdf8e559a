# SPDX-License-Identifier: Apache-2.0
"""The questions asked of DuckDB, on this machine."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Collection, List, Optional, Sequence

from memtrace.fleet import check, dialect, engine, gather, schema
from memtrace.fleet.errors import FleetError, needed
from memtrace.fleet.store import Entry, Store
from memtrace.fleet.wanted import Wanted

_ATTEMPTS = 4  # files go while others put many runs together


class _Changed(Exception):
    """The store is not as it was listed."""


class Duck:
    """A connection in which the tables and views are. FleetError: there is nothing to ask."""

    def __init__(self, store: Store, wanted: Wanted, lists: Optional[Collection[str]] = None):
        """`lists`: what will be asked of, of schema.LISTS; the others are empty. None: all."""
        self.notes: List[str] = []
        self._lists = set(schema.LISTS) if lists is None else set(lists) | {"devices"}
        self._store = store
        self.connection = needed("duckdb").connect()
        self.connection.execute("SET enable_progress_bar = false")
        if not store.is_local:
            self.connection.register_filesystem(store.files)
        self._empty = tempfile.TemporaryDirectory(prefix="memtrace-")
        for attempt in range(_ATTEMPTS):
            try:
                self._open(wanted)
                return
            except _Changed:
                if attempt + 1 == _ATTEMPTS:
                    raise FleetError(f"{store.place}: changed while it was read; ask again") from None

    def _open(self, wanted: Wanted) -> None:
        self._store.require()
        project = wanted.projects[0] if len(wanted.projects) == 1 else None
        entries = self._store.entries(wanted.since, wanted.until, project)
        if not entries:
            of = " of those dates and that project" if wanted.since or wanted.until or project else ""
            raise FleetError(f"{self._store.place}: holds no summaries{of}; memtrace fleet add {self._store.place} TRACE… "
                             "writes them")
        self.notes = []
        single = [entry for entry in entries if not entry.holds_many]
        self._hold(self._readable([entry for entry in entries if entry.holds_many]) + single, wanted)
        engine.prepare(self.connection.execute, self._keep, dialect.DUCKDB, wanted, self._lists)

    def _keep(self, name: str, query: str) -> None:
        self.connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {name} AS {query}")

    def _readable(self, entries: Sequence[Entry]) -> List[Entry]:
        """Those that are what they should be; a sentence on each other."""
        good = []
        for entry in entries:
            try:
                problem = check.problem_of(self._store, entry.path)
            except FileNotFoundError:
                raise _Changed from None
            if problem is None:
                good.append(entry)
            else:
                self.notes.append(problem)
        return good

    def _first(self, query: str) -> Any:
        return self.connection.execute(query).fetchone()[0]

    def _view(self, name: str, entries: Sequence[Entry], columns: str, condition: str = "") -> None:
        """An empty file with today's schema is among them: what old files lack is there, and empty."""
        empty = Path(self._empty.name) / "empty.parquet"
        if not empty.exists():
            parquet = needed("pyarrow.parquet")
            parquet.write_table(schema.arrow_schema().empty_table(), empty)
        files = [str(empty), *(self._store.shown(entry.path) for entry in entries)]
        listed = ", ".join(map(dialect.literal, files))
        self.connection.execute(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT {columns} FROM read_parquet([{listed}], "
                                f"union_by_name = true, hive_partitioning = false, filename = 'file', file_row_number = true){condition}")

    def _columns(self) -> str:
        return ", ".join(name for name in schema.names() if name not in schema.LISTS or name in self._lists)

    def _hold(self, entries: Sequence[Entry], wanted: Wanted) -> None:
        """Each file is opened once, and what is asked of is held in memory: a process once (see docs/fleet.md)."""
        condition = wanted.condition()
        where = f" WHERE {condition}" if condition else ""
        columns = self._columns()
        self._view("many", [entry for entry in entries if entry.holds_many], columns + ", file, file_row_number")
        try:
            single = gather.tables(self._store, [entry for entry in entries if not entry.holds_many], columns.split(", "),
                                   self.notes)
        except gather.Gone:
            raise _Changed from None
        self.connection.register("single", single)
        duckdb = needed("duckdb")
        try:
            self._keep("held", f"SELECT * FROM (SELECT * FROM many UNION ALL BY NAME SELECT * FROM single){where}")
        except duckdb.Error as error:
            if all(self._store.exists(entry.path) for entry in entries):
                raise FleetError(f"DuckDB: {str(error).splitlines()[0]}") from None
            raise _Changed from None
        self.connection.unregister("single")
        if not self._first("SELECT count(*) FROM held") and len(self.notes) == len(entries):
            raise FleetError(f"{self._store.place}: holds no summary that can be read: {self.notes[0]}")
        doubles = """SELECT file, file_row_number FROM (SELECT file, file_row_number, row_number() OVER (PARTITION BY
            process ORDER BY events DESC, added_ns DESC, run_id, file, file_row_number) AS number FROM held)
            WHERE number > 1"""
        self.connection.execute(f"DELETE FROM held WHERE (file, file_row_number) IN ({doubles})")
        self.connection.execute(f"CREATE OR REPLACE TEMPORARY VIEW stored AS SELECT {self._columns()} FROM held")

    def ask(self, statement: str) -> engine.Answer:
        """FleetError: DuckDB's own sentence."""
        duckdb = needed("duckdb")
        try:
            cursor = self.connection.execute(statement)
            columns = tuple(column[0] for column in cursor.description or ())
            return engine.Answer(columns, cursor.fetchall())
        except duckdb.Error as error:
            raise FleetError(f"DuckDB: {str(error).splitlines()[0]}") from None

    def close(self) -> None:
        self.connection.close()
        self._empty.cleanup()
