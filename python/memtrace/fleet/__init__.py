# SPDX-License-Identifier: Apache-2.0
"""Many runs: small summaries of them as Parquet, and the questions of a platform team asked of all.

`memtrace fleet add DIR TRACE…` writes them, `memtrace fleet report DIR` asks. docs/fleet.md has the schema, the
views, and how to set it up. Needs memtrace[fleet]: duckdb, pyarrow and fsspec."""
