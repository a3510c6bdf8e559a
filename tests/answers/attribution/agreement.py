# SPDX-License-Identifier: Apache-2.0
"""Sets memtrace's category of each block beside the truth, block by block, at the same moment."""

import json
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import runs

# Kinds that the truth cannot tell apart: whatever no parameter, buffer, gradient, optimizer state, input
# or saved tensor lives in.
REST = {"temporaries", "workspace", "outputs", "collected", "other"}

KNOWN, AGREEING = 99, 98  # what the peak of every program must reach, in percent of its bytes


@dataclass
class Agreement:
    moment_bytes: int = 0  # allocated by PyTorch
    truth: Counter = field(default_factory=Counter)  # role -> bytes
    memtrace: Counter = field(default_factory=Counter)  # category -> bytes
    known_bytes: int = 0
    agreeing_bytes: int = 0
    missing_blocks: int = 0  # the report does not have them
    foreign_blocks: int = 0  # only the report has them
    differing_sizes: int = 0
    seen: Counter = field(default_factory=Counter)  # (role, when seen) -> bytes
    disagreements: Counter = field(default_factory=Counter)  # (truth, memtrace, rule, site) -> bytes

    @property
    def known(self) -> float:
        return 100 * self.known_bytes / self.moment_bytes

    @property
    def agreeing(self) -> float:
        return 100 * self.agreeing_bytes / self.moment_bytes

    @property
    def good(self) -> bool:
        same_blocks = self.missing_blocks == self.foreign_blocks == self.differing_sizes == 0
        return same_blocks and self.known >= KNOWN and self.agreeing >= AGREEING


def matches(role: str, category: str) -> bool:
    return category in REST if role == "rest" else category == role


def address_of(block: dict) -> int:
    return int(block["address"], 0) if isinstance(block["address"], str) else block["address"]


def judge(moment: dict, compositions: list[dict]) -> Agreement:
    """`compositions`: the report's, a device's each, at the moment of `moment`."""
    theirs = {address_of(block): block for memory in compositions for block in memory["blocks"]}
    found = Agreement()
    for block in moment["blocks"]:
        size, role = block["bytes"], block["role"]
        found.moment_bytes += size
        found.truth[role] += size
        found.seen[role, block["seen"]] += size
        their = theirs.pop(block["address"], None)
        category = their["category"] if their else "missing"
        found.memtrace[category] += size
        found.missing_blocks += their is None
        found.differing_sizes += their is not None and their["bytes"] != size
        found.known_bytes += size if category not in ("missing", "unknown") else 0
        if matches(role, category):
            found.agreeing_bytes += size
        else:
            site = " < ".join(block["site"].split(" < ")[:3]) or "autograd thread"
            rule = f"{their['evidence']}: {their['rule']} ({their['phase']})" if their else ""
            found.disagreements[role, category, rule, f"{block['what']} at {site}"] += size
    found.foreign_blocks = len(theirs)
    return found


def events_of_allocations(trace: Path) -> list[int]:
    """The event number of each of PyTorch's allocations, in order."""
    return [line["n"] for line in runs.dump(trace, stacks=False) if line["kind"] == "alloc"]


def report_with_blocks(trace: Path, folder: Path, event: int | None) -> tuple[dict, list[dict]]:
    """The report, and what each device held at its peak, or in the moment right after an event."""
    target = folder / "report.json"
    moment = [] if event is None else ["--at", f"event:{event}"]
    subprocess.run([str(runs.memtrace()), "report", str(trace), "--json", str(target), "--blocks", *moment],
                   check=True, capture_output=True, env=runs.environment())
    report = json.loads(target.read_text())
    memory = [device["at_peak" if event is None else "at_moment"] for device in report["devices"]]
    return report, [one for one in memory if one]
