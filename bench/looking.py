# SPDX-License-Identifier: Apache-2.0
"""The cost of looking around: censuses of what keeps memory alive, and samples of host memory, over a
whole run of 20 ms steps, its beginning included, where censuses are most frequent.

Usage: looking.py [ROUNDS [STEPS]]     rounds of every way, each a process (3); steps of each (500)"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from agent import BARE, STEPS, middle, spin_for_a_step
from recording import BUILD, command

# name -> (traced by memtrace, environment)
WAYS = {
    "bare": (False, {}),
    "neither": (True, {"MEMTRACE_CENSUS": "0", "MEMTRACE_SAMPLING": "0"}),
    "censuses": (True, {"MEMTRACE_SAMPLING": "0"}),
    "samples": (True, {"MEMTRACE_CENSUS": "0"}),
    "both": (True, {}),
}
assert BARE in WAYS


def censuses_in(folder: str) -> list[int]:
    """Nanoseconds that each took, as the recording says."""
    trace, = Path(folder).glob("*.mtrace")
    printed = subprocess.run([str(BUILD / "memtrace"), "dump", "--no-stacks", str(trace)],
                             capture_output=True, text=True, check=True).stdout
    records = (json.loads(line) for line in printed.splitlines() if '"census"' in line)
    return [one["nanoseconds"] for one in records if one.get("action") == "end"]


def measure(way: str, steps: int, spin: int) -> dict:
    traced, environment = WAYS[way]
    with tempfile.TemporaryDirectory() as output:
        outcome = subprocess.run(
            [*command(traced, output), sys.executable, STEPS, str(steps), str(spin)],
            env={**os.environ, **environment}, capture_output=True, text=True,
        )
        for line in outcome.stdout.splitlines():
            if line.startswith("RESULT "):
                found = json.loads(line.removeprefix("RESULT "))
                return {"wall": found["all_wall_ns"], "cpu": found["all_cpu_ns"],
                        "censuses": censuses_in(output) if traced else []}
    sys.exit(f"memtrace bench: {way}: no result; the program said:\n{outcome.stderr}")


def main(rounds: int, steps: int) -> None:
    spin = spin_for_a_step()
    taken: dict[str, list[dict]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in list(WAYS) if number % 2 == 0 else list(reversed(WAYS)):
            taken[way].append(measure(way, steps, spin))

    def added(way, to, pick):
        """Shares of the bare run, in pairs of the same round."""
        return middle([(one[pick] - other[pick]) / bare[pick]
                       for one, other, bare in zip(taken[way], taken[to], taken["bare"], strict=True)])

    run = statistics.median(one["wall"] for one in taken["bare"])
    print(f"runs of {run / 1e9:.1f} s, {steps} steps; {rounds} rounds. Of the bare run, median of the pairs "
          "(and their middle half)\n")
    print(f"{'added to a run':34}{'wall time':>32}{'CPU time':>32}")
    for name, way, to in (("recording alone, beside bare", "neither", "bare"),
                          ("censuses", "censuses", "neither"),
                          ("samples of host memory", "samples", "neither"),
                          ("both", "both", "neither")):
        print(f"{name:34}{added(way, to, 'wall'):>32}{added(way, to, 'cpu'):>32}")
    each = [ns for one in taken["both"] for ns in one["censuses"]]
    counts = [len(one["censuses"]) for one in taken["both"]]
    if each:
        print(f"\n{statistics.median(counts):.0f} censuses a run, by the recording itself: "
              f"{statistics.median(each) / 1e6:.1f} ms each (at most {max(each) / 1e6:.1f}), "
              f"{sum(each) / len(counts) / run:.2%} of a run.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, int(sys.argv[2]) if len(sys.argv) > 2 else 500)
