# SPDX-License-Identifier: Apache-2.0
"""(e) The peaks that memtrace dry-run predicts for this GPU, beside the real ones."""

import os
import tempfile
from pathlib import Path

import machine
import matrix
import runs

KEYS = ("peak_allocated_bytes", "peak_reserved_bytes")


def peaks(program: str, setting: matrix.Setting, **gpu: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        outcome = runs.run([runs.python(), runs.PROGRAMS / f"{program}.py", *setting.arguments],
                           Path(folder) / "trace", env=dict(setting.variables), **gpu).expect(0)
        device = runs.report(outcome.traces, Path(folder))["devices"][0]
    return {key: device[key] for key in KEYS}


def predicted(program: str, setting: matrix.Setting, facts: dict) -> dict:
    os.environ["MEMTRACE_REAL_GPU"] = "0"
    try:
        return peaks(program, setting, gpu=facts["model"], memory=str(facts["total_bytes"]))
    finally:
        os.environ["MEMTRACE_REAL_GPU"] = "1"


def check(quick: bool, facts: dict) -> machine.Check:
    done = machine.Check("e", "peaks predicted by dry-run beside the real ones")
    if not runs.on_real_gpu():
        done.skipped.append("both would be the same simulated run")
        done.unverified.append("every prediction: there is no real peak to set beside it")
        return done
    if facts["model"] is None:
        done.skipped.append(f"no simulated GPU stands for {facts['gpu']}")
        return done
    for program in matrix.PROGRAMS:
        if missing := machine.missing_module(runs.PROGRAMS / f"{program}.py"):
            done.skipped.append(f"{program}: this Python has no {missing}")
            continue
        for setting in matrix.SETTINGS[:1] if quick else matrix.SETTINGS:
            result = {"program": program, "setting": setting.name}
            try:
                result["real"] = peaks(program, setting)
                result["dry_run"] = predicted(program, setting, facts)
                result["error"] = {key: result["dry_run"][key] / result["real"][key] - 1
                                   for key in KEYS}
                done.add(result)
            except Exception as error:  # the other programs still count
                done.add({**result, "failure": machine.first_words(error)}, f"{program}: did not run")
    return done
