# SPDX-License-Identifier: Apache-2.0
"""The content of a store of summaries, read without memtrace."""

import io
from pathlib import Path


def rows_in(parquet) -> list:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(io.BytesIO(parquet) if isinstance(parquet, bytes) else parquet).read().to_pylist()


def files_in(store: Path) -> dict:
    """The content of the store's files, by name below it; unfinished ones too."""
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()}
