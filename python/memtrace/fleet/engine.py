# SPDX-License-Identifier: Apache-2.0
"""The engines that answer a report's questions. Each makes the same tables of the same files."""

from __future__ import annotations

from typing import Any, Callable, Collection, List, NamedTuple, Optional, Protocol, Tuple

from memtrace.fleet import dialect, questions
from memtrace.fleet.questions import Question
from memtrace.fleet.wanted import Wanted, known_gpus

_ALL_DEVICES, _SELECTED = "fleet_all_devices", "fleet_selected_runs"


class Answer(NamedTuple):
    columns: Tuple[str, ...]
    rows: List[Tuple[Any, ...]]


class Answered(NamedTuple):
    question: Question
    answer: Answer


class Engine(Protocol):
    """`summaries` is there, and the views upon it."""

    notes: List[str]  # what was left out and why, a sentence each

    def ask(self, statement: str) -> Answer: ...

    def close(self) -> None: ...


def prepare(run: Callable[[str], Any], keep: Callable[[str, str], Any], dialect_name: str, wanted: Wanted,
            lists: Optional[Collection[str]] = None) -> None:
    """From the relation `stored`, each process once, to all views. `run` carries out a statement; `keep` makes a table of
    that name of what a query finds. `lists`: those that `stored` has; None: all."""
    condition = wanted.condition()
    where = f" WHERE {condition}" if condition else ""
    if wanted.gpus:
        # It selects from `stored`: a view that is made from itself is a circle to Spark.
        run(dialect.table_of("devices", dialect_name, "stored", _ALL_DEVICES))
        keep(_SELECTED, f"SELECT DISTINCT run FROM {_ALL_DEVICES} WHERE {wanted.gpu_condition()}")
        where = f"{where or ' WHERE true'} AND run_id IN (SELECT run FROM {_SELECTED})"
    run(f"CREATE OR REPLACE TEMPORARY VIEW summaries AS SELECT * FROM stored{where}")
    for statement in dialect.base(dialect_name, lists):
        run(statement)
    run(dialect.given("gpus", known_gpus()))
    run(dialect.given("prices", wanted.prices))
    run(dialect.given("periods", wanted.period_rows()))
    for statement in questions.statements():
        run(statement)
