# SPDX-License-Identifier: Apache-2.0
"""(e) The peaks that memtrace dry-run predicts for this GPU, beside the real ones."""

import contextlib
import os
import tempfile
from pathlib import Path

import machine
import matrix
import programs
import runs

KEYS = ("peak_allocated_bytes", "peak_reserved_bytes")


def peaks(program: str, setting: matrix.Setting, **gpu: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        outcome = runs.run([runs.python(), programs.path(program), *setting.arguments],
                           Path(folder) / "trace", env=dict(setting.variables), **gpu).expect(0)
        device = runs.report(outcome.traces, Path(folder))["devices"][0]
    return {key: device[key] for key in KEYS}


@contextlib.contextmanager
def on_the_simulator():
    os.environ["MEMTRACE_REAL_GPU"] = "0"
    try:
        yield
    finally:
        os.environ["MEMTRACE_REAL_GPU"] = "1"


def predicted(program: str, setting: matrix.Setting, facts: dict) -> dict:
    with on_the_simulator():
        return peaks(program, setting, gpu=facts["model"], memory=f"{facts['total_bytes']}B")


def units(facts: dict) -> list[str]:
    settings = matrix.SETTINGS[:1] if facts["quick"] else matrix.SETTINGS
    return [f"{program} {setting.name}" for setting in settings for program in matrix.PROGRAMS]


def begin(facts: dict) -> machine.Check:
    done = machine.Check("e", "peaks predicted by dry-run beside the real ones")
    if facts["simulated"]:
        done.skipped.append("both would be the same simulated run")
        done.unverified.append("every prediction: there is no real peak to set beside it")
    elif facts["model"] is None:
        done.skipped.append(f"no simulated GPU stands for {facts['gpu']}")
    return done


def do(done: machine.Check, unit: str, facts: dict) -> None:
    if facts["simulated"] or facts["model"] is None:
        return
    program, name = unit.split()
    setting = next(one for one in matrix.SETTINGS if one.name == name)
    if missing := machine.missing_module(program):
        done.skipped.append(f"{program}: this Python has no {missing}")
        return
    result = {"program": program, "setting": setting.name}
    try:
        result["real"] = peaks(program, setting)
        result["dry_run"] = predicted(program, setting, facts)
        result["error"] = {key: result["dry_run"][key] / result["real"][key] - 1 for key in KEYS}
        done.add(result)
    except Exception as error:  # the other programs still count
        done.add({**result, "failure": machine.first_words(error)}, f"{program}: did not run")
