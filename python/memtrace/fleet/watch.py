# SPDX-License-Identifier: Apache-2.0
"""memtrace fleet add --watch FOLDER: adds each run once its traces are finished, until it is stopped."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Dict, List, Sequence, Set, Tuple

from memtrace.fleet import add, identity, summarize
from memtrace.fleet.errors import FleetError, say
from memtrace.fleet.store import Store

State = Tuple[Tuple[str, int], ...]  # of a run's traces: path and size


def _state(traces: Sequence[Path]) -> State:
    return tuple((str(trace), os.stat(trace).st_size) for trace in traces)


def _is_quiet(traces: Sequence[Path], for_s: float) -> bool:
    """Nobody wrote for a while: the program was killed, and no trailer will come."""
    return all(time.time() - os.stat(trace).st_mtime >= for_s for trace in traces)


class Watch:
    """Looks again and again. A run is taken when all its traces are finished or quiet, and once for each state."""

    def __init__(self, folder: str, each: bool, quiet_s: float):
        self._folder, self._each, self._quiet_s = folder, each, quiet_s
        self._taken: Set[State] = set()

    def ready(self) -> List[List[Path]]:
        try:
            found = identity.groups(self._folder)
        except FleetError:  # nothing yet
            return []
        runs = [[trace] for traces in found for trace in traces] if self._each else found
        chosen: Dict[State, List[Path]] = {}
        for traces in runs:
            try:
                state = _state(traces)
                if state not in self._taken and (identity.is_finished(traces) or _is_quiet(traces, self._quiet_s)):
                    chosen[state] = traces
            except OSError:  # deleted meanwhile
                continue
        self._taken.update(chosen)
        return list(chosen.values())

    def put_back(self, traces: Sequence[Path]) -> None:
        """To be taken again: the store could not be written."""
        self._taken.discard(_state(traces))


def watch(store: Store, folder: str, told: summarize.Told, each: bool, jobs: int, every_s: float,
          quiet_s: float) -> int:
    """Until SIGINT or SIGTERM. 1: something was not added."""
    if not Path(folder).is_dir():
        raise FleetError(f"--watch {folder}: is no folder; make it, or name the one that traces are written to")
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    watched = Watch(folder, each, quiet_s)
    failed = 0
    last: List[str] = []
    say(f"watching {folder}; summaries go to {store.place}")
    while not stopped.is_set():
        runs = watched.ready()
        if runs:
            outcome = add.Outcome()
            add.add(store, runs, told, False, jobs, outcome)
            for traces in outcome.unwritten:
                watched.put_back(traces)
            if outcome.added or outcome.replaced or (outcome.failed and outcome.failed != last):  # said once
                failed |= add.tell(outcome, store.place)
            last = outcome.failed
        stopped.wait(every_s)
    return failed
