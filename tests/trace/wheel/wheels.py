# SPDX-License-Identifier: Apache-2.0
"""The wheel, built and used as a user would: installed into an environment with PyTorch, a dry run, a
recording by LD_PRELOAD, uninstalled."""

import json
import re
import subprocess
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import runs

import environments
import other_systems

# With the newest PyTorch that the tests know, or the last one that has wheels for it.
VERSIONS = [environments.Version("2.8.0", "3.9")] + [
    environments.Version(environments.NEWEST if ("2.11.0", python) in environments.NO_WHEEL else "2.11.0", python)
    for python in environments.PYTHONS]
MOST_BYTES = 12 << 20


def build(into: Path) -> Path:
    """By scripts/wheel, which checks what it needs of the system."""
    subprocess.run([str(runs.ROOT / "scripts" / "wheel"), "--into", str(into)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wheel, = into.glob("*.whl")
    return wheel


def version() -> str:
    """That of the sources."""
    return re.search(r"project\(memtrace VERSION ([0-9.]+)", (runs.ROOT / "CMakeLists.txt").read_text())[1]


def tags(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        name, = (one for one in archive.namelist() if one.endswith(".dist-info/WHEEL"))
        return re.findall(r"^Tag: (.*)$", archive.read(name).decode(), re.MULTILINE)


def clean_environment() -> dict[str, str]:
    """Without what leads Python or memtrace elsewhere."""
    return {name: value for name, value in runs.environment().items() if not name.startswith("PYTHON")}


def said(command: list, **how) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False,
                          env={**clean_environment(), **how.pop("env", {})}, **how)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def files_in(folder: Path) -> set[Path]:
    """Without folders: pip leaves those of share/ behind, empty."""
    return {file.relative_to(folder) for file in folder.rglob("*") if "__pycache__" not in file.parts and not file.is_dir()}


@dataclass
class Tried:
    python: str
    torch: str
    install_s: float
    version: str  # what the command says
    peak: int  # PyTorch's
    reported: int  # memtrace's, of a dry run
    preloaded: int  # memtrace's, of a program started with LD_PRELOAD=$(memtrace path)
    recorded_with: str  # the version that the trace tells
    left: list[str]  # after pip uninstall


def peak_in(report: Path) -> int:
    device, = json.loads(report.read_text())["devices"]
    return device["peak_allocated_bytes"]


def peak_of(command: Path, traces: Path) -> int:
    said([command, "report", traces, "--json", traces / "report.json"])
    return peak_in(traces / "report.json")


def version_of(command: Path, traces: Path) -> str:
    trace, = runs.traces_in(traces)
    facts = [json.loads(line) for line in said([command, "dump", "--no-stacks", trace]).splitlines()
             if '"info"' in line]
    told, = (fact["value"] for fact in facts if fact["key"] == "memtrace_version")
    return told


def use(command: Path, python: Path, work: Path) -> tuple[int, int, int, str]:
    """PyTorch's peak, memtrace's in a dry run and by LD_PRELOAD, and the version in the trace."""
    program, dry, preloaded = work / "train.py", work / "dry", work / "preloaded"
    program.write_text(other_systems.TRAINING)
    printed = said([command, "dry-run", "--no-report", "--output", dry, "--", python, program])
    peak = int(other_systems.PEAK.search(printed)[1])
    packages = said([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    by_hand = f'LD_PRELOAD="$({command} path)${{LD_PRELOAD:+:$LD_PRELOAD}}" {python} {program}'
    preloaded.mkdir()
    said([command, "dry-run", "--bare", "--site-packages", packages, "--", "/bin/sh", "-c", by_hand],
         env={"MEMTRACE_OUTPUT": str(preloaded)})
    return peak, peak_of(command, dry), peak_of(command, preloaded), version_of(command, dry)


def tried(wheel: Path, wanted: environments.Version, work: Path) -> Tried:
    python = Path(environments.installed(wanted))
    command = python.parent / "memtrace"
    before = files_in(wanted.folder)
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    began = time.monotonic()
    said([*pip, "install", "--quiet", "--no-index", "--no-deps", wheel])
    took = time.monotonic() - began
    try:
        told = said([command, "--version"]).strip()
        assert said([python, "-c", "import memtrace; print(memtrace.is_active())"]) == "False\n"
        assert said([python, "-m", "memtrace", "--version"]).strip() == told
        peak, reported, preloaded, recorded_with = use(command, python, work)
    finally:
        said([*pip, "uninstall", "--quiet", "--yes", "gpu-memtrace"])
    return Tried(wanted.python, wanted.torch, took, told, peak, reported, preloaded, recorded_with,
                 sorted(map(str, files_in(wanted.folder) - before)))
