# SPDX-License-Identifier: Apache-2.0
"""What recording adds to a compiled step, beside the eager step of the same model, in turn in one
run; and what it adds to the compilation, all code compiled anew.

Usage: compiled.py [ROUNDS [STEPS]]     rounds of every way, each a process (5); timed steps (60)"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from recording import ROOT, command

STEPS = str(ROOT / "bench" / "compiled_steps.py")
MODES = ("eager", "compiled")


def measure(mode: str, traced: bool, steps: int, cache: str) -> dict:
    with tempfile.TemporaryDirectory() as output:
        before = time.perf_counter()
        outcome = subprocess.run(
            [*command(traced, output), sys.executable, STEPS, str(steps),
             *(["--eager"] if mode == "eager" else [])],
            env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache}, capture_output=True, text=True)
        whole = time.perf_counter() - before
    for line in outcome.stdout.splitlines():
        if line.startswith("RESULT "):
            result = json.loads(line.removeprefix("RESULT "))
            # The least: the machine may be busy with other things.
            return {"wall": min(result["wall_ns"]), "cpu": min(result["cpu_ns"]), "whole": whole,
                    "allocations": result["allocations"]}
    sys.exit(f"memtrace bench: {mode}: no result; the program said:\n{outcome.stderr}")


def middle(values: list[float], form: str) -> str:
    """The median, and the least and the most."""
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def main(rounds: int, steps: int) -> None:
    taken: dict = {(mode, traced): [] for mode in MODES for traced in (False, True)}
    compiling: dict = {traced: [] for traced in (False, True)}
    with tempfile.TemporaryDirectory() as cache:
        for number in range(rounds):
            for traced in ((False, True), (True, False))[number % 2]:
                with tempfile.TemporaryDirectory() as empty:
                    compiling[traced].append(measure("compiled", traced, 1, empty)["whole"])
                for mode in MODES:
                    taken[mode, traced].append(measure(mode, traced, steps, cache))
    print(f"{rounds} rounds of {steps} steps; the least step of a process; median of the pairs "
          "(least to most)\n")
    for mode in MODES:
        pairs = list(zip(taken[mode, True], taken[mode, False], strict=True))
        one = pairs[0][0]["allocations"]
        print(f"{mode:10} {statistics.median(bare['cpu'] for _, bare in pairs) / 1e6:7.2f} ms of CPU a "
              f"step, {one:.0f} allocations: recorded {middle([a['cpu'] / b['cpu'] for a, b in pairs], '.3f')}"
              f" times that, {middle([(a['cpu'] - b['cpu']) / one for a, b in pairs], '.0f')} ns an allocation")
    ratios = [with_ / bare for with_, bare in zip(compiling[True], compiling[False], strict=True)]
    print(f"compiling anew, the whole process: {middle(ratios, '.3f')} times the time without memtrace")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:3]]
    main(*(given + [5, 60][len(given):]))
