# SPDX-License-Identifier: Apache-2.0
"""The time that recording adds to a step of a compiled model and of the same model in eager mode.

Four processes of each model (eager and compiled, with and without memtrace) are warmed up once and
then live side by side; each round asks every one of them for some steps, in another order each time,
so that what else the machine does meets all alike. Compiling is not in these figures; --anew N takes N
pairs of processes that compile everything, one after the other, and compares their warm-up. --instructions
counts with callgrind what a step takes, which does not hang on the machine.

Usage: compiled.py [--rounds N] [--steps N] [--seconds N] [--models NAME...] [--json FILE] [--anew N | --instructions]"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from instructions import START, self_costs
from recording import ROOT, command

STEPS = str(ROOT / "bench" / "compiled_steps.py")
MODELS = ("nano_gpt", "resnet")  # of compiled_steps.py
HOWS = ("eager", "compiled")
FEWEST_ROUNDS = 4
# The GPU that each clock belongs to.
CLOCKS = {"cpu": "processor time", "user": "processor time, user mode", "wall": "the clock"}


def environment(folder: Path) -> dict:
    return {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Trainer:
    """One warm process."""

    def __init__(self, model: str, how: str, traced: bool, folder: Path):
        output = folder / f"{model}-{how}-{traced}"
        self.errors = open(folder / f"{output.name}.err", "w+")
        self.process = subprocess.Popen(
            [*command(traced, str(output)), sys.executable, STEPS, model, how],
            env=environment(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.facts = json.loads(self.line("READY "))

    def line(self, prefix: str = "{") -> str:
        for line in self.process.stdout:
            if line.startswith(prefix):
                return line.removeprefix(prefix) if prefix != "{" else line
        self.errors.seek(0)
        sys.exit(f"memtrace bench: a program ended early; it said:\n{self.errors.read()}")

    def train(self, steps: int) -> dict:
        print(steps, file=self.process.stdin, flush=True)
        taken = json.loads(self.line())
        return {clock: ns / steps for clock, ns in taken.items()}

    def end(self) -> None:
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()
        self.errors.close()


def spread(values: list[float], form: str) -> str:
    """The median and, in brackets, between what half of the rounds are."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def take(model: str, rounds: int, steps: int, seconds: float) -> dict:
    """ns a step of each process in each round, and what is known of the processes. Ends after `seconds`
    of rounds: a busy machine gives fewer of them."""
    keys = [(how, traced) for how in HOWS for traced in (False, True)]
    with tempfile.TemporaryDirectory() as folder:
        trainers = {key: Trainer(model, *key, Path(folder)) for key in keys}
        for trainer in trainers.values():
            trainer.train(steps)
        taken: dict = {key: [] for key in keys}
        end = time.monotonic() + seconds
        for number in range(rounds):
            if number >= FEWEST_ROUNDS and time.monotonic() > end:
                break
            turn = number % len(keys)
            order = keys[turn:] + keys[:turn]
            for key in order if number // len(keys) % 2 == 0 else reversed(order):
                taken[key].append(trainers[key].train(steps))
        facts = {key: trainer.facts for key, trainer in trainers.items()}
        for trainer in trainers.values():
            trainer.end()
    return {"taken": taken, "facts": facts}


def rows(model: str, found: dict) -> list[dict]:
    all_rows = []
    for clock in CLOCKS:
        for how in HOWS:
            bare = [one[clock] for one in found["taken"][how, False]]
            traced = [one[clock] for one in found["taken"][how, True]]
            events = 2 * found["facts"][how, False]["allocations"]
            added = [a - b for a, b in zip(traced, bare, strict=True)]
            all_rows.append({
                "model": model, "clock": clock, "how": how, "events": events, "bare": bare, "traced": traced,
                "added": added, "least": min(traced) - min(bare)})
    return all_rows


def told(row: dict) -> str:
    events = row["events"]
    ratios = [a / b for a, b in zip(row["traced"], row["bare"], strict=True)]
    return (f"| {row['model']} | {row['how']} | {CLOCKS[row['clock']]} | {len(ratios)} | {events} | "
            f"{statistics.median(row['bare']) / 1e6:.2f} ms | {spread(ratios, '.3f')} | "
            f"{spread([ns / 1e3 for ns in row['added']], '.0f')} | {row['least'] / 1e3:.0f} | "
            f"{spread([ns / events for ns in row['added']], '.0f')} |")


def compile_anew(model: str, pairs: int) -> None:
    """Seconds of warm-up, nothing compiled before."""
    ratios, bare = [], []
    for number in range(pairs):
        seconds = {}
        for traced in ((False, True), (True, False))[number % 2]:
            with tempfile.TemporaryDirectory() as folder:
                trainer = Trainer(model, "compiled", traced, Path(folder))
                seconds[traced] = trainer.facts["warm_up_s"]
                trainer.end()
        ratios.append(seconds[True] / seconds[False])
        bare.append(seconds[False])
    print(f"{model}: compiling everything and {pairs} pairs: {statistics.median(bare):.1f} s without memtrace; with it "
          f"{statistics.median(ratios):.3f} times that ({min(ratios):.3f} to {max(ratios):.3f})")


def instructions(model: str, steps: int = 20) -> None:
    """Counts those of the whole process when all is warm."""
    with tempfile.TemporaryDirectory() as folder:
        Trainer(model, "compiled", False, Path(folder)).end()  # fills the cache
        for how in HOWS:
            each = {}
            for traced in (False, True):
                each[traced], events = counted(model, how, traced, Path(folder), steps)
            print(f"{model} {how}: {each[False]:,.0f} instructions an event ({events} events of {steps} steps), "
                  f"recorded {each[True] - each[False]:+,.0f} ({each[True] / each[False]:.3f} times)", flush=True)


def counted(model: str, how: str, traced: bool, folder: Path, steps: int) -> tuple[float, int]:
    out = folder / "callgrind.out"
    packages = ("--site-packages", str(next(Path(sys.prefix).glob("lib/python*/site-packages"))))
    run = subprocess.run(
        [*command(traced, str(folder / f"{how}-counted"), packages), "valgrind", "--tool=callgrind",
         f"--zero-before={START}", f"--callgrind-out-file={out}", sys.executable, STEPS, model, how,
         "--count", str(steps)], env={**environment(folder), "MEMTRACE_SAMPLING": "0"}, capture_output=True, text=True)
    events = re.search(r"^EVENTS (\d+)$", run.stdout, re.M)
    if events is None or not out.exists():
        sys.exit(f"memtrace bench: no profile; the program said:\n{run.stderr}")
    return sum(self_costs(out.read_text()).values()) / int(events.group(1)), int(events.group(1))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--steps", type=int, default=20, help="of every process in a round")
    parser.add_argument("--seconds", type=float, default=120, help="of rounds, for each model, at most")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--json", type=Path, help="the figures of every round go here")
    parser.add_argument("--anew", type=int, help="compare compiling instead, in so many pairs")
    parser.add_argument("--instructions", action="store_true", help="count instructions instead")
    options = parser.parse_args()
    if options.anew or options.instructions:
        for model in options.models:
            compile_anew(model, options.anew) if options.anew else instructions(model)
        return
    print(f"{options.steps} steps a round; medians, in brackets half of the rounds; the least: of the least rounds\n")
    print("| model | | of | rounds | events | a step without memtrace | with it, times that | added µs a step | the least |"
          " added ns an event |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    kept = []
    for model in options.models:
        made = rows(model, take(model, options.rounds, options.steps, options.seconds))
        kept += made
        for row in made:
            print(told(row), flush=True)
    print("\nWhat is added to a compiled step, as a share of what is added to the eager one:")
    for eager, compiled in ((one, other) for one in kept for other in kept
                            if one["how"] == "eager" and other["how"] == "compiled"
                            and (one["model"], one["clock"]) == (other["model"], other["clock"])):
        share = statistics.median(compiled["added"]) / statistics.median(eager["added"])
        print(f"- {eager['model']}, {CLOCKS[eager['clock']]}: {share:.2f}")
    if options.json:
        options.json.write_text(json.dumps(kept))


if __name__ == "__main__":
    main()
