# SPDX-License-Identifier: Apache-2.0
"""Files of summaries, written and read."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from memtrace.fleet import schema


def write(rows: Any, to: Any, **how: Any) -> None:
    """A Parquet file of these rows (a table of schema.arrow_schema()), which says its version."""
    import pyarrow.parquet

    row_group = how.pop("row_group_size", None)
    with pyarrow.parquet.ParquetWriter(to, rows.schema, compression="zstd", store_schema=False, **how) as writer:
        writer.add_key_value_metadata({schema.METADATA_KEY: str(schema.VERSION)})
        writer.write_table(rows, row_group_size=row_group)


def opened(source: Any) -> Any:
    """A Parquet file to read from, in this thread alone: where Python ends while a thread of Arrow's still lets go of an
    object of Python's, the process is aborted (https://github.com/apache/arrow/issues/36980)."""
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(source, pre_buffer=False)


def read(held: Any, columns: Optional[Sequence[str]] = None) -> Any:
    """The table, or these columns of it; `held` is of opened()."""
    return held.read(columns=None if columns is None else list(columns), use_threads=False)
