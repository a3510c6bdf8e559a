# SPDX-License-Identifier: Apache-2.0
"""Runs of the real allocator on the simulated GPU, each beside the model's replay of its trace."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "support"))

import recordings
import runs
import witness

HERE = Path(__file__).resolve().parent
FAILED = "the run failed"
# Allocator events are what is compared; neither changes them, and both cost time.
QUIET = {"MEMTRACE_CENSUS": "0", "MEMTRACE_SAMPLING": "0"}


@dataclass
class Verdict:
    name: str
    events: int = 0             # compared with the model's
    allocations: int = 0
    totals: int = 0             # events whose allocated and reserved were compared
    retries: int = 0
    out_of_memory: int = 0
    doubts: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)  # replayed at the recorded addresses
    predicted: list[str] = field(default_factory=list)    # replayed from the requests alone …
    others: bool = False        # … unless others take the device's memory in mid-run
    refusals: dict[str, int] = field(default_factory=dict)  # errors other than out of memory

    @property
    def agrees(self) -> bool:
        return self.events > 0 and not self.differences and not self.doubts


def checked(trace: Path) -> list[dict]:
    """The answer of check_trace for each of its devices."""
    command = [runs.build() / "check_trace", "--replay", trace]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return [json.loads(line) for line in printed.stdout.splitlines()]


def check(trace: Path, seen: dict) -> Verdict:
    verdict = Verdict(trace.stem)
    try:
        devices = checked(trace)
    except subprocess.CalledProcessError as error:
        verdict.differences.append(f"check_trace: {error.returncode} {error.stderr[-300:]}")
        return verdict
    if len(devices) != 1:
        verdict.differences.append(f"{len(devices)} devices in the trace")
        return verdict
    judge(devices[0], seen, verdict)
    return verdict


def judge(checked: dict, seen: dict, verdict: Verdict) -> None:
    verdict.events = checked["events"]
    verdict.allocations = checked["blocks"]
    verdict.totals = checked["compared_totals"]
    verdict.doubts = checked["doubts"]
    verdict.retries = seen["stats"]["num_alloc_retries"]
    verdict.out_of_memory = seen["stats"]["num_ooms"]
    verdict.refusals = {what: count for what, count in seen["counts"].items()
                        if not what.startswith("out of memory")}
    if not checked["exact"]:
        verdict.differences.append(f"event {checked['first']}")
    if "layout" in checked:
        verdict.differences += witness.layout_differences(seen, checked["layout"])
    if checked["refused"] != verdict.out_of_memory:
        verdict.differences.append(
            f"out of memory: PyTorch {verdict.out_of_memory}, the trace {checked['refused']}")
    verdict.differences += witness.outcome_differences(seen, checked["recorded"])
    verdict.others = seen["others"]  # what they take is not in the requests
    if not verdict.others:
        verdict.predicted = witness.prediction_differences(
            seen, checked["recorded"], checked["predicted"])


def perform(wanted: list[dict], folder: Path, keep: bool = False) -> list[Verdict]:
    """Performs and checks; what agrees leaves nothing in the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return [perform_one(run, folder, keep) for run in wanted]


def perform_one(run: dict, folder: Path, keep: bool) -> Verdict:
    name = run["name"]
    plan, seen, trace = (folder / f"{name}.{kind}" for kind in ("run", "json", "mtrace"))
    plan.write_text(json.dumps(run))
    program = [run["program"]] if "program" in run else []
    ended = recordings.run([runs.python(), HERE / "perform.py", plan, seen, *program], folder / "traces" / name,
                           env={**QUIET, "PYTORCH_CUDA_ALLOC_CONF": run["settings"]}, memory=f"{run['memory']}B")
    for made in ended.traces[:1]:
        made.rename(trace)
    if ended.status or not seen.exists() or not trace.exists():
        said = [f"run {name} ended with status {ended.status}"] if ended.status else []
        said += ended.stderr.decode(errors="replace").splitlines()
        tail = [line for line in said if "recorded" not in line][-8:]
        return Verdict(name, differences=[f"{FAILED}: {tail}"])
    verdict = check(trace, json.loads(seen.read_text()))
    if verdict.agrees and not verdict.predicted and not keep:
        seen.unlink()
        trace.unlink()
    return verdict
