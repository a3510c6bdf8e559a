# SPDX-License-Identifier: Apache-2.0
"""Writes a made-up fleet, and its truth beside it: the truth first, and in a folder that no question sees.

python tests/trace/fleet/generator/made_fleet.py FOLDER --runs 2000 --seed 1
makes FOLDER/truth.json, FOLDER/real (once) and FOLDER/fleet.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Iterable, Iterator
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[3] / "python")]

import derive  # noqa: E402
import plan as plans  # noqa: E402
import real_runs  # noqa: E402
import settings  # noqa: E402
from memtrace.fleet import summarize  # noqa: E402


def write_truth(path: Path, seed: int, runs: int, made: list[real_runs.Real]) -> list[plans.Planned]:
    planned, truths, projects = plans.plan(seed, runs)
    reals = derive.by_kind(made)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({
        "seed": seed,
        # steps: as the program itself printed them.
        "runs": {derive._digest(seed, one.number): {**truths[one.number]._asdict(),
                                                    "steps": derive.ancestor(one, reals).torch["steps"]}
                 for one in planned},
        "regressed": sorted(one.name for one in projects if one.regression > 0),
        "improved": sorted(one.name for one in projects if one.regression < 0),
        "unchanged": sorted(one.name for one in projects if one.regression == 0)}))
    return planned


def write_runs(folder: Path, rows: Iterable[list[dict[str, Any]]], together: int = 1) -> int:
    """As docs/fleet.md lays files out. `together`: runs of a day in one file, as after fleet compact."""
    written = 0
    for run in rows if together == 1 else _by_day(rows, together):
        first = run[0]
        where = (f"project={quote(first['project_name'], safe='')}/run={first['run_id']}", "summary") if together == 1 \
            else ("project=many/run=many", first["run_id"])
        target = folder / f"date={first['run_date']}" / where[0]
        target.mkdir(parents=True, exist_ok=True)
        (target / f"{where[1]}.parquet").write_bytes(summarize.as_parquet(run))
        written += 1
    return written


def _by_day(rows: Iterable[list[dict[str, Any]]], together: int) -> Iterator[list[dict[str, Any]]]:
    days: dict[str, list[dict[str, Any]]] = {}
    counts: dict[str, int] = {}
    for run in rows:
        day = run[0]["run_date"]
        days.setdefault(day, []).extend(run)
        counts[day] = counts.get(day, 0) + 1
        if counts[day] == together:
            counts[day] = 0
            yield days.pop(day)
    yield from days.values()


def make(folder: Path, seed: int, runs: int, chosen: list[settings.Setting], together: int = 1,
         real: Path | None = None) -> Path:
    """The folder of the fleet; folder/truth.json is its truth. `real`: where the real runs lie, or will."""
    made = real_runs.make(chosen, real or folder / "real")
    planned = write_truth(folder / "truth.json", seed, runs, made)
    write_runs(folder / "fleet", derive.derived(seed, planned, made), together)
    return folder / "fleet"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=1, help="runs of a day in one file")
    parser.add_argument("--quick", action="store_true", help="descend from few real runs")
    options = parser.parse_args()
    print(make(options.folder, options.seed, options.runs, settings.QUICK if options.quick else settings.ALL,
               options.together))


if __name__ == "__main__":
    main()
