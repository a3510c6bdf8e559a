# SPDX-License-Identifier: Apache-2.0
"""Makes a run that differs small: delta debugging over its operations.

python minimise.py SEED KIND SMALL.json        a run of random_runs.py
python minimise.py RUN.json SMALL.json         one that was written by it

Many candidates are performed in one go, since starting Python is what takes the time.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import differential
import random_runs


def differing(run: dict, candidates: list[list], folder: Path, predicted: bool) -> list[bool]:
    wanted = [{**run, "name": f"{number}", "operations": operations}
              for number, operations in enumerate(candidates)]
    verdicts = differential.perform(wanted, folder)
    return [differs(one, predicted) for one in verdicts]


def differs(one: differential.Verdict, predicted: bool) -> bool:
    """A run without an allocation leaves no trace, and is none."""
    if one.differences and one.differences[0].startswith(differential.FAILED):
        return "ended with status" in one.differences[0]
    return bool(one.differences) or (predicted and bool(one.predicted))


def without(operations: list, parts: int) -> list[list]:
    """The list without its first part, without its second, …"""
    size = -(-len(operations) // parts)
    return [operations[:at] + operations[at + size:] for at in range(0, len(operations), size)]


def shorter(run: dict, operations: list, folder: Path, predicted: bool) -> list:
    """Without what comes behind the difference: the shortest beginning that differs."""
    low, high = 0, len(operations)
    while high - low > 1:
        cuts = sorted({low + (high - low) * part // 8 for part in range(1, 8)} - {low})
        found = differing(run, [operations[:cut] for cut in cuts], folder, predicted)
        for cut, differs in zip(cuts, found):
            if differs:
                high = cut
                break
            low = cut
        else:
            if not cuts:
                break
    return operations[:high]


def minimise(run: dict, folder: Path, predicted: bool, report=print) -> dict:
    operations = shorter(run, run["operations"], folder, predicted)
    report(f"{len(operations)} of {len(run['operations'])} operations up to the difference")
    parts = 4
    while operations:
        candidates = without(operations, parts)
        found = differing(run, candidates, folder, predicted)
        if True in found:
            operations = candidates[found.index(True)]
            parts = max(parts - 1, 2)
            report(f"{len(operations)} operations")
        elif parts >= len(operations):
            break
        else:
            parts = min(parts * 2, len(operations))
    return {**run, "operations": operations}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="+", help="SEED KIND SMALL.json, or RUN.json SMALL.json")
    parser.add_argument("--predicted", action="store_true",
                        help="what the requests alone predict is to be right, too")
    wanted = parser.parse_args()
    *source, target = wanted.what
    if len(source) == 2:
        run = random_runs.make(int(source[0]), source[1])
    else:
        run = json.loads(Path(source[0]).read_text())
    with tempfile.TemporaryDirectory() as folder:
        small = minimise(run, Path(folder) / "runs", wanted.predicted)
    Path(target).write_text(json.dumps(small, indent=1))
    print(f"{run['settings'] or 'default'}, {run['memory']} bytes:")
    for operation in small["operations"]:
        print(" ", operation)
    return 0


if __name__ == "__main__":
    sys.exit(main())
