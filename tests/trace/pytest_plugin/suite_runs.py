# SPDX-License-Identifier: Apache-2.0
"""Runs pytest with memtrace's plugin, in a process of its own, on a suite that a test writes."""

import re
import subprocess
import textwrap
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path

import runs
import warm

HERE = Path(__file__).resolve().parent
MIB = 1 << 20
PLUGIN = ["-p", "memtrace.pytest_plugin", "-p", "no:cacheprovider"]
HEAD = """
import os, pytest, torch
MiB = 1 << 20
def gpu(bytes, device=0):
    return torch.empty(bytes, dtype=torch.uint8, device=f"cuda:{device}")
"""


@dataclass
class Result:
    status: int
    text: str
    outcomes: dict[str, str]  # of each test: passed, failed, error, skipped
    messages: dict[str, str]
    traces: list[Path]

    def summary(self) -> dict[str, tuple[str, str]]:
        """The peak of each test in the summary of GPU memory, and what it left."""
        part = self.text.partition("GPU memory that tests allocated")[2]
        found = re.findall(r"^ *(0|[\d.]+ [KMG]iB|[\d,]+ bytes)  +(0|[\d.]+ [KMG]iB|[\d,]+ bytes)?  +\S*::([^\s,]+)",
                           part, re.M)
        return {name: (peak, left) for peak, left, name in found}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        head = HEAD if name.startswith("test_") else ""
        (folder / name).write_text(head + textwrap.dedent(text))


def variables(extra=None) -> dict[str, str]:
    return {"PYTHONPATH": str(runs.ROOT / "python"), **(extra or {})}


def command(folder: Path, *arguments: str) -> list[str]:
    return [runs.python(), HERE / "programs" / "pytest_in_folder.py", *PLUGIN,
            f"--junitxml={folder}/results.xml", *arguments]


def result_of(folder: Path, status: int, text: str) -> Result:
    outcomes, messages = {}, {}
    file = folder / "results.xml"
    for case in xml.parse(file).getroot().iter("testcase") if file.exists() else []:
        name = case.get("name")
        worst = next((child for child in case if child.tag in ("error", "failure", "skipped")), None)
        outcomes[name] = {None: "passed", "failure": "failed"}.get(worst if worst is None else worst.tag,
                                                                   worst.tag if worst is not None else "")
        messages[name] = "" if worst is None else f"{worst.get('message')}\n{worst.text}"
    return Result(status, text, outcomes, messages, runs.traces_in(folder / "traces"))


def run(folder: Path, files: dict[str, str], *arguments: str, recorded=True, env=None, **machine) -> Result:
    """On the simulated GPU, recorded or not."""
    write(folder, files)
    done = warm.run(command(folder, *arguments), folder / "traces" if recorded else None, cwd=folder,
                    env=variables(env), **machine)
    return result_of(folder, done.status, (done.stdout + done.stderr).decode(errors="replace"))


def run_plainly(folder: Path, files: dict[str, str], *arguments: str, env=None) -> Result:
    """Without a GPU of any kind."""
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text))
    done = subprocess.run(command(folder, *arguments), cwd=folder, env=runs.environment(variables(env)),
                          capture_output=True, text=True, timeout=120)
    return result_of(folder, done.returncode, done.stdout + done.stderr)
