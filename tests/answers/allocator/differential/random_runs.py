# SPDX-License-Identifier: Apache-2.0
"""Many random runs, some of each kind of options.

python random_runs.py [--runs N] [--first SEED] [--kind KIND] [--folder DIR] [--record FILE]
"""

import argparse
import json
import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import differential
import options
import workload

KINDS = [*options.ALONE, options.TOGETHER, options.TOGGLED]
# With --kind only: the seeds above keep their kinds. Options as they come.
SPECIAL = {
    "memory pools": {"pools": 0.05, "fraction": 0,
                     "pool_options": [{}, {"no_split": True}, {"use_on_oom": True}]},
    "captures": {"captures": 0.01, "pools": 0, "streams": 3, "fraction": 0},
}
CHUNK = 50


def make(seed: int, kind: str, most: int = 2500) -> dict:
    of_options = random.Random(seed).choice(KINDS[:-1]) if kind in SPECIAL else kind
    settings, toggles = options.make_options(of_options, random.Random(seed))
    name = f"{kind.replace(' ', '-')}-{seed}" if kind in SPECIAL else f"{seed}"
    return workload.make_run(seed, name, settings, toggles, most, **SPECIAL.get(kind, {})).as_json()


def perform(first: int, count: int, kinds: list[str], folder: Path, most: int = 2500,
            report=print, record=lambda line: None) -> dict:
    """Verdicts by kind."""
    found = defaultdict(list)
    for begin in range(first, first + count, CHUNK):
        seeds = range(begin, min(begin + CHUNK, first + count))
        runs_here = [make(seed, kinds[seed % len(kinds)], most) for seed in seeds]
        kind_of = {run["name"]: kinds[seed % len(kinds)] for seed, run in zip(seeds, runs_here)}
        for verdict in differential.perform(runs_here, folder / f"{begin}"):
            found[kind_of[verdict.name]].append(verdict)
            record({**vars(verdict), "kind": kind_of[verdict.name]})
            if not verdict.agrees or verdict.predicted:
                report(json.dumps(vars(verdict))[:1500])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", choices=[*KINDS, *SPECIAL], action="append")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--record", type=Path, help="a line of JSON a run is added to it")
    wanted = parser.parse_args()
    folder = wanted.folder or Path(tempfile.mkdtemp())

    def record(line: dict) -> None:
        if wanted.record:
            with open(wanted.record, "a") as file:
                file.write(json.dumps(line) + "\n")

    found = perform(wanted.first, wanted.runs, wanted.kind or KINDS, folder, record=record)
    for kind, verdicts in found.items():
        agreeing = sum(one.agrees for one in verdicts)
        events = sum(one.events for one in verdicts)
        predicted = sum(one.agrees and not one.predicted for one in verdicts)
        print(f"{kind}: {agreeing} of {len(verdicts)} runs agree, {events:,} events, "
              f"{predicted} predicted from the requests alone")
    return 0 if all(one.agrees for verdicts in found.values() for one in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
