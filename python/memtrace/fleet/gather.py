# SPDX-License-Identifier: Apache-2.0
"""Many small files, one after the other, as one Arrow table with today's columns. DuckDB opens them all at once, with
memory for each (1.6 GB for 1,000 files)."""

from __future__ import annotations

import io
from typing import Any, Iterable, List, Optional, Sequence, Tuple

from memtrace.fleet import check, parquet, schema
from memtrace.fleet.errors import needed
from memtrace.fleet.store import Entry, Store

_AT_ONCE = 256  # tables of one row that lie in memory as such, at some 100 KB each


class Gone(Exception):
    """A file was deleted since it was listed: its runs stand in another one now."""


def _conformed(table: Any, wished: Any) -> Any:
    """Fits a table of an older or newer schema: what it lacks is empty, what it has more is left out."""
    pa = needed("pyarrow")
    return pa.Table.from_pylist(table.to_pylist(), schema=wished)


def wished_schema(columns: Optional[Sequence[str]]) -> Any:
    whole = schema.arrow_schema()
    return whole if columns is None else needed("pyarrow").schema([whole.field(name) for name in columns])


def one(store: Store, path: str, columns: Optional[Sequence[str]] = None) -> Tuple[Any, Optional[str]]:
    """The table, or why it cannot be read. Gone: it is not there."""
    needed("pyarrow.parquet")
    try:
        content: Any = path if store.is_local else io.BytesIO(store.files.cat_file(path))
        with parquet.opened(content) as held:
            problem = check.problem_in(held.schema_arrow, held.metadata.metadata, store.shown(path))
            if problem:
                return None, problem
            wished = wished_schema(columns)
            if held.schema_arrow.equals(schema.arrow_schema()):
                return parquet.read(held, columns), None
            return _conformed(parquet.read(held), wished), None
    except FileNotFoundError:
        raise Gone(path) from None
    except Exception as error:  # whatever pyarrow thinks of it
        return None, check.unreadable(store.shown(path), error)


def tables(store: Store, entries: Iterable[Entry], columns: Sequence[str], notes: List[str]) -> Any:
    """All that can be read, with the columns and `file` and `file_row_number` behind them; a sentence on each other."""
    pa = needed("pyarrow")
    wished = wished_schema(columns)
    found, files, numbers = [wished.empty_table()], [], []
    together: List[Any] = []
    for entry in entries:
        table, problem = one(store, entry.path, columns)
        if problem:
            notes.append(problem)
            continue
        found.append(table.select(wished.names).cast(wished))
        files += [store.shown(entry.path)] * table.num_rows
        numbers += range(table.num_rows)
        if len(found) == _AT_ONCE:
            together.append(pa.concat_tables(found).combine_chunks())
            found = []
    # A chunk of one row costs DuckDB as much as one of thousands.
    whole = pa.concat_tables([*together, *found]).combine_chunks()
    return whole.append_column("file", pa.array(files, pa.string())).append_column(
        "file_row_number", pa.array(numbers, pa.int64()))
