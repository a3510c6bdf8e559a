# SPDX-License-Identifier: Apache-2.0
"""The SQL that DuckDB and Spark write differently: the tables that lists become, and tables of a few given rows.

An engine makes the relation `summaries`, with the columns of schema.names(), each process once; what is built upon
it (views/*.sql) is the same text for both."""

from __future__ import annotations

from typing import Any, Collection, Dict, List, Optional, Sequence

from memtrace.fleet import schema

DUCKDB, SPARK = "duckdb", "spark"
_KEYS = "run_date AS date, project_name AS project, run_id AS run, process, rank"
_RENAMED = ("run_date", "project_name", "run_id", "process", "rank")
_TYPES = {schema.INT: "BIGINT", schema.REAL: "DOUBLE", schema.TEXT: "STRING", schema.FLAG: "BOOLEAN"}  # in both

# Tables that a report brings along, and their columns.
GIVEN: Dict[str, Sequence[schema.Column]] = {
    "gpus": schema.columns("""
gpu             string  as --gpu takes it
name            string  as CUDA says
capacity_bytes  int64   as CUDA says
"""),
    "prices": schema.columns("""
name            string  of a GPU, as CUDA says
price_per_hour  double  of one
currency        string  code
"""),
    "periods": schema.columns("""
period       string  before or after
first_date   string  UTC day, inclusive; None: no limit
last_date    string  UTC day, inclusive; None: no limit
label        string  that the run must have; None: any
label_value  string  of it
"""),
}


def literal(value: Any) -> str:
    """The SQL literal of a string, a number or None."""
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def given(name: str, rows: Sequence[Sequence[Any]]) -> str:
    """The statement that makes such a table, of literals; without rows it is empty."""
    columns = GIVEN[name]

    def select(values: Sequence[Any]) -> str:
        return "SELECT " + ", ".join(f"CAST({literal(value)} AS {_TYPES[column.kind]}) AS {column.name}"
                                     for column, value in zip(columns, values))

    made = [select(row) for row in rows] or [select([None] * len(columns)) + " WHERE 1 = 0"]
    return f"CREATE OR REPLACE TEMPORARY VIEW {name} AS\n" + "\nUNION ALL ".join(made)


def ranks() -> str:
    """The statement that makes the table of a row's own columns."""
    others = [column.name for column in schema.PROCESS if column.name not in _RENAMED]
    return f"CREATE OR REPLACE TEMPORARY VIEW ranks AS SELECT {_KEYS}, {', '.join(others)} FROM summaries"


def table_of(name: str, dialect: str, of: str = "summaries", called: str = "") -> str:
    """The statement that makes a list of the relation `of` a table, called as the list if not otherwise."""
    own = ", ".join(f"entry.{column.name} AS {column.name}" for column in schema.LISTS[name].columns)
    source = {DUCKDB: f"{of}, UNNEST({of}.{name}) AS listed(entry)",
              SPARK: f"{of} LATERAL VIEW explode({name}) listed AS entry"}[dialect]
    return f"CREATE OR REPLACE TEMPORARY VIEW {called or name} AS SELECT {_KEYS}, {own} FROM {source}"


def empty(name: str) -> str:
    """The statement that makes a list that is not there a table without rows."""
    columns = [*(f"CAST(NULL AS {_TYPES[column.kind]}) AS {column.name}" for column in schema.LISTS[name].columns)]
    return (f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT {_KEYS}, {', '.join(columns)} FROM summaries "
            "WHERE 1 = 0")


def base(dialect: str, lists: Optional[Collection[str]] = None) -> List[str]:
    """All statements between `summaries` and the views; without those of given(). `lists`: those that `summaries` has;
    None: all."""
    return [ranks(), *(table_of(name, dialect) if lists is None or name in lists else empty(name)
                       for name in schema.LISTS)]
