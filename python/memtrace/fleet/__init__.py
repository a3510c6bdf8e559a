# SPDX-License-Identifier: Apache-2.0
"""Many runs: small summaries of them as Parquet, and the questions of a platform team asked of all.

`memtrace fleet add DIR TRACE…` writes them, `memtrace fleet report DIR` asks. docs/fleet.md has the schema, the
views, and how to set it up. Needs gpu-memtrace[fleet]: duckdb, pyarrow and fsspec."""

from __future__ import annotations

from typing import Any


def connect(place: str, **filters: Any) -> Any:
    """The tables and views of docs/fleet.md: `.ask(query)` has columns and rows, `.connection` is DuckDB's own, with
    which further views can be made. Filters as in memtrace.fleet.wanted.Wanted."""
    from memtrace.fleet import duck, store, wanted

    return duck.Duck(store.Store(place), wanted.Wanted(**filters))
