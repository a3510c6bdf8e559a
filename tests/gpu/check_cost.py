# SPDX-License-Identifier: Apache-2.0
"""(d) What recording costs a step of real training: bare and traced runs in turn, as ratios of
neighbours, so that a machine that gets slower or faster meanwhile does not count."""

import json
import statistics
import tempfile
from pathlib import Path

import machine
import runs

SHAPES = ["small", "medium", "large"]  # of the model, see programs/timed_training.py


def seconds_a_step(shape: str, output: Path | None) -> float:
    outcome = runs.run([runs.python(), machine.PROGRAMS / "timed_training.py", shape], output)
    return json.loads(outcome.expect(0).stdout.splitlines()[-1])["median_seconds"]


def one(shape: str, pairs: int) -> dict:
    found = []
    for turn in range(pairs):
        with tempfile.TemporaryDirectory() as folder:
            ways = [None, Path(folder) / "trace"]
            # Which comes first changes, too.
            order = ways if turn % 2 == 0 else ways[::-1]
            seconds = {way: seconds_a_step(shape, way) for way in order}
        found.append({"bare_seconds": seconds[ways[0]], "traced_seconds": seconds[ways[1]],
                      "ratio": seconds[ways[1]] / seconds[ways[0]]})
    ratios = [pair["ratio"] for pair in found]
    return {"model": shape, "pairs": found, "median_ratio": statistics.median(ratios),
            "lowest_ratio": min(ratios), "highest_ratio": max(ratios)}


def units(facts: dict) -> list[str]:
    return SHAPES[:1] if facts["quick"] else SHAPES


def begin(facts: dict) -> machine.Check:
    done = machine.Check("d", "cost a step, in pairs")
    if facts["simulated"]:
        done.unverified.append("what a step costs where kernels take time: here only the host's "
                               "share of a step is timed, and any cost weighs most")
    return done


def do(done: machine.Check, shape: str, facts: dict) -> None:
    try:
        done.add(one(shape, 3 if facts["quick"] else 7))
    except AssertionError as error:
        done.add({"model": shape, "error": machine.first_words(error)}, f"{shape}: did not run")
