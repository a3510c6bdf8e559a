# SPDX-License-Identifier: Apache-2.0
"""Stores of summaries that were not recorded: copies of real ones with other figures."""

import copy
import itertools
import os
from pathlib import Path

_numbers = itertools.count(1)


def row(real: dict, **changes) -> dict:
    """Another process of another run, as the real one but for the changes; those to `device` are of its devices."""
    made = copy.deepcopy(real)
    number = f"{next(_numbers):016x}"
    made.update(run_id=number, process=number, run_date="2026-11-10", project_name="vision", user_name="ada")
    for device in made["devices"]:
        device.update(changes.pop("device", {}) if len(made["devices"]) == 1 else {})
    made.update(changes)
    return made


def put(store: Path, rows: list) -> Path:
    """A file for each run."""
    from memtrace.fleet import store as stores
    from memtrace.fleet import summarize

    place = stores.Store(str(store))
    by_run: dict = {}
    for one in rows:
        by_run.setdefault(one["run_id"], []).append(one)
    for run_id, of_run in by_run.items():
        path = place.path_of(of_run[0]["run_date"], of_run[0]["project_name"], run_id)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(path).write_bytes(summarize.as_parquet(of_run))
    return store
