# SPDX-License-Identifier: Apache-2.0
"""The facts about a process that a summary's row holds beside its lists (schema.PROCESS)."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence

from memtrace.fleet import identity, thin

_UNKNOWN_SCRIPT = "unknown"
# Words of a command line behind which a module or a script follows, and what starts others.
_LAUNCHERS = ("python", "torchrun", "accelerate", "deepspeed", "launch", "ipython", "jupyter")


def script_of(command: Sequence[str]) -> str:
    """The program's file or module without its folder and ending: train of `python -u src/train.py --lr 1`."""
    words = list(command)
    for number, word in enumerate(words):
        name = os.path.basename(word)
        if word == "-m" and number + 1 < len(words):
            return words[number + 1].rsplit(".", 1)[-1] or _UNKNOWN_SCRIPT
        if name.endswith(".py"):
            return name[:-len(".py")] or _UNKNOWN_SCRIPT
    others = [os.path.basename(word) for word in words if not word.startswith("-")]
    named = [name for name in others if not name.startswith(_LAUNCHERS)]
    return (named or others or [_UNKNOWN_SCRIPT])[0]


def _total(entries: Sequence[Dict[str, Any]], name: str) -> int:
    return sum(entry[name] or 0 for entry in entries)


def _host(report: Dict[str, Any], pid: int) -> Dict[str, Any]:
    """The facts about one process where the report has several: from its samples."""
    host = report["host"]
    alone = len(report["processes"]) == 1
    own = [one for one in host["series"] if one["pid"] == pid and one["name"] in ("process", "workers")]
    peak = sum(max(one["bytes"], default=0) for one in own) or None
    return {"host_peak_bytes": host["peak_bytes"] if alone else peak,
            "host_limit_bytes": host["limit_bytes"],
            "pinned_peak_bytes": host["pinned_peak_bytes"] if alone else
            sum(one["bytes"] for one in host["pinned"]["sites"] if one["pid"] == pid),
            "workers": len(host["workers"]) if alone else None}


def _longest(report: Dict[str, Any], pid: int) -> List[Dict[str, Any]]:
    series = [one["steps"] for one in report["steps"]["series"] if one["pid"] == pid]
    return max(series, key=len, default=[])


def row(report: Dict[str, Any], number: int) -> Dict[str, Any]:
    """The facts about the report's process of that number. What is not the report's to say is left out."""
    process = report["processes"][number]
    run, whole, training = process["run"], process["completeness"], process["training"]
    pid = run["pid"]
    told: Optional[Dict[str, Any]] = next((one for one in report["ranks"] if one["trace"] == process["trace"]), None)
    failures = [one for one in report["oom"] if one["pid"] == pid]
    steps = _longest(report, pid)
    return {
        "run_date": identity.day_of(run["started_ns"]), "script": script_of(run["command"]),
        "rank": run["rank"], "local_rank": run["local_rank"], "world_size": run["world_size"],
        "attempt": told["attempt"] if told else 0, "host": run["host"], "pid": pid,
        "command": json.dumps(run["command"], ensure_ascii=False), "started_ns": run["started_ns"],
        "duration_ns": run["duration_ns"], "torch": run["torch"], "cuda": run["cuda"], "python": run["python"],
        "alloc_conf": run["alloc_conf"],
        "environment": json.dumps(run["environment"], ensure_ascii=False, sort_keys=True),
        "simulated_gpu": run["simulated_gpu"], "source": run["source"],
        "mode": run["recording"]["mode"] if run["recording"] else None,
        "capabilities": " ".join(run["recording"]["capabilities"]) if run["recording"] else None,
        "events": whole["events"], "dropped_events": whole["dropped_events"], "truncated": whole["truncated"],
        "clean_exit": whole["clean_exit"], "mismatches": whole["total_mismatches"],
        "state": process["headline"]["state"], "headline": process["headline"]["text"],
        "ran_out_of_memory": bool(failures), "out_of_memories": len(failures),
        "autocast": training["autocast"], "checkpointed": len(training["checkpointed_modules"]),
        "parameters": training["parameters"], "parameter_bytes": training["parameter_bytes"],
        "trainable_bytes": training["trainable_bytes"],
        "steps": told["steps"] if told else len(steps), "step_boundary": report["steps"]["boundary"],
        "step_ns": thin.median_step_ns(steps), **_host(report, pid)}
