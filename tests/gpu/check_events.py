# SPDX-License-Identifier: Apache-2.0
"""(b) Recorded events beside PyTorch's own record of the same run, and beside what CUPTI saw."""

import json
import subprocess
import tempfile
from pathlib import Path

import machine
import matrix
import programs
import runs


def beside_snapshot(program: str, setting: matrix.Setting) -> dict:
    result = {"program": program, "setting": setting.name}
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = matrix.run_one(program, setting, Path(folder))
        except Exception as error:  # the other programs still count
            return {**result, "error": machine.first_words(error)}
    stats = run.truth["memory_stats"][0]
    return {
        **result, **vars(run.found), "differences": run.found.differences,
        "peak_allocated_bytes": stats["allocated_bytes.all.peak"],
        "peak_reserved_bytes": stats["reserved_bytes.all.peak"],
    }


def beside_cupti(program: str, setting: matrix.Setting) -> dict:
    result = {"program": program, "setting": setting.name, "witness": "CUPTI"}
    with tempfile.TemporaryDirectory() as folder:
        outcome = runs.run(
            [runs.python(), programs.path(program), *setting.arguments],
            Path(folder) / "trace", env={"MEMTRACE_CUPTI": "1", **dict(setting.variables)},
        )
        if outcome.status != 0 or len(outcome.traces) != 1:
            return {**result, "error": machine.first_words(outcome.stderr.decode(errors="replace"))}
        target = Path(folder) / "audit.json"
        audited = subprocess.run(
            [runs.memtrace(), "audit", outcome.traces[0], "--json", target],
            capture_output=True, text=True, env=runs.environment())
        if not target.exists():
            return {**result, "error": machine.first_words(audited.stderr)}
        (audit,) = json.loads(target.read_text())["traces"]
    kept = ("verdict", "witness", "both", "missed_by_cupti", "missed_by_hooks", "other_size")
    return {**result, "exit_status": audited.returncode, **{key: audit.get(key) for key in kept}}


def units(facts: dict) -> list[str]:
    if facts["quick"]:
        return [f"{program} default" for program in ("transformer_adamw", "resnet50_sgd", "cuda_graph")]
    return [f"{program} {setting.name}" for setting in matrix.SETTINGS for program in matrix.PROGRAMS]


def begin(facts: dict) -> machine.Check:
    done = machine.Check("b", "events beside PyTorch's snapshot and beside CUPTI")
    if facts["simulated"]:
        done.unverified.append("what the real CUPTI delivers: here both are ours")
    return done


def do(done: machine.Check, unit: str, facts: dict) -> None:
    del facts
    program, name = unit.split()
    setting = next(one for one in matrix.SETTINGS if one.name == name)
    if missing := machine.missing_module(program):
        done.skipped.append(f"{program}: this Python has no {missing}")
        return
    found = beside_snapshot(program, setting)
    bad = "error" in found or found["differences"] != 0
    done.add(found, f"{program}, {setting.name}: beside the snapshot" if bad else None)
    if setting.name == "streams":
        return
    found = beside_cupti(program, setting)
    # Expandable segments are mapped memory, of which CUPTI need not tell.
    fine = found.get("exit_status") == 0 or found.get("verdict") == "nothing_compared"
    done.add(found, None if fine else f"{program}, {setting.name}: beside CUPTI")
