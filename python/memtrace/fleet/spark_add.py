# SPDX-License-Identifier: Apache-2.0
"""memtrace fleet add --engine spark: a task a run, on whichever worker is free, the memtrace command inside.

Traces and store must lie where the workers reach them under the same names. A task writes its summary itself, whole
or not at all, so that what was done stays done, whatever becomes of the others or of the driver."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from memtrace.fleet import add as adding
from memtrace.fleet import spark_session, summarize
from memtrace.fleet.errors import FleetError, needed
from memtrace.fleet.store import Store

_ATTEMPTS = 3  # to write, where the store failed; a trace that cannot be read is not tried again
_PAUSE_S = 1.0  # before the second; twice as long before the third
_KILLER = re.compile(r"Task (\d+) in stage")

# Kept in a worker: files that hold many runs are read once, not once a task.
_together: Dict[str, adding.Together] = {}


def _size(traces: Sequence[Path]) -> int:
    total = 0
    for trace in traces:
        try:
            total += os.stat(trace).st_size
        except OSError:
            continue
    return total


def _summarize(number: int, traces: Sequence[str], place: str, told: summarize.Told, again: bool,
               command: Optional[str]) -> Tuple[int, adding.Outcome]:
    """In a worker. What fails is in the outcome, so that Spark need not try it again."""
    if command and os.access(command, os.X_OK):
        os.environ["MEMTRACE_COMMAND"] = command
    outcome = adding.Outcome()
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_S * attempt)
        outcome = adding.Outcome()
        try:
            store = Store(place)
            together = _together.setdefault(place, adding.Together(store))
            adding.attempt(store, [Path(one) for one in traces], told, again, together, outcome)
        except FleetError as error:  # the store is not to be reached at all
            outcome.failed.append(str(error))
            outcome.unwritten.append([Path(one) for one in traces])
        if not outcome.unwritten:
            break
    return number, outcome


def _gathered() -> Any:
    """An accumulator's kind: what tasks of an action that succeeded added is there once, also if the job ends badly."""
    param = needed("pyspark.accumulators").AccumulatorParam

    class Lists(param):  # type: ignore[misc, valid-type]
        def zero(self, value: List[Any]) -> List[Any]:
            return []

        def addInPlace(self, left: List[Any], right: List[Any]) -> List[Any]:
            left.extend(right)
            return left

    return Lists()


def add(store: Store, runs: Sequence[Sequence[Path]], told: summarize.Told, again: bool, settings: Sequence[str],
        outcome: adding.Outcome) -> None:
    """As add.add. The largest first, so that none of them is begun when all others are done."""
    session = spark_session.start(settings)
    try:
        pending = {number: [str(trace) for trace in traces]
                   for number, traces in enumerate(sorted(runs, key=_size, reverse=True))}
        while pending:
            done, killer = _round(session, store.place, pending, told, again)
            for number, one in done:
                if pending.pop(number, None) is not None:
                    _merge(outcome, one)
            if killer is None:
                break
            traces = pending.pop(killer)
            outcome.failed.append(f"{traces[0]}: each executor that was to summarise it died, most likely for want of "
                                  "memory; add it alone, on a machine with more")
    finally:
        session.stop()


def _round(session: Any, place: str, pending: Dict[int, List[str]], told: summarize.Told,
           again: bool) -> Tuple[List[Tuple[int, adding.Outcome]], Optional[int]]:
    """The runs that are done, and the number of the run of which Spark gave up, if there is one."""
    context = session.sparkContext
    gathered = context.accumulator([], _gathered())
    command = os.environ.get("MEMTRACE_COMMAND")
    numbers = list(pending)
    tasks = context.parallelize([(number, pending[number]) for number in numbers], len(numbers))
    try:
        tasks.foreach(lambda task: gathered.add([_summarize(task[0], task[1], place, told, again, command)]))
    except Exception as error:
        # Spark tried a task often enough; the others' summaries are written all the same.
        which = _KILLER.search(str(error))
        if which is None or int(which[1]) >= len(numbers):
            raise FleetError(f"Spark: {spark_session.words(error)}; what was added stays, and is not added again") from None
        return list(gathered.value), numbers[int(which[1])]
    return list(gathered.value), None


def _merge(into: adding.Outcome, one: adding.Outcome) -> None:
    into.added += one.added
    into.replaced += one.replaced
    into.known += one.known
    into.failed += one.failed
    into.cut += one.cut
    into.unwritten += one.unwritten
