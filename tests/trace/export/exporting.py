# SPDX-License-Identifier: Apache-2.0
"""The command, and the consumers that read what it wrote."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import runs

HERE = Path(__file__).resolve().parent


def export(*arguments, cwd: Path | None = None, **how) -> subprocess.CompletedProcess:
    return subprocess.run([str(runs.memtrace()), "export", *map(str, arguments)], cwd=cwd, capture_output=True,
                          text=True, env=runs.environment(), **how)


def exported(traces, kind: str, target: Path, *more) -> Path:
    done = export(*traces, "--format", kind, "-o", target, *more)
    assert done.returncode == 0, done.stderr
    return target


def category_bytes(view: dict) -> dict[str, int]:
    """The bytes of a moment in the report's JSON, by category."""
    return {row["category"]: row["bytes"] for row in view["categories"]}


# pprof

def pprof_command() -> list[str] | None:
    if shutil.which("pprof"):
        return ["pprof"]
    return ["go", "tool", "pprof"] if shutil.which("go") else None


def pprof(profile: Path, *options: str) -> str:
    return subprocess.run([*pprof_command(), *options, str(profile)], check=True, capture_output=True, text=True,
                          env={**os.environ, "PPROF_TMPDIR": str(profile.parent)}).stdout


def pprof_total(profile: Path, sample: str) -> int:
    """In the type's own unit."""
    unit = "B" if sample.endswith("space") else "count"
    text = pprof(profile, "-top", f"-sample_index={sample}", f"-unit={unit}", "-nodefraction=0", "-edgefraction=0")
    return int(re.search(r"of (\d+)\w* total", text).group(1))


def pprof_tags(profile: Path, sample: str, tag: str) -> dict[str, int]:
    """Bytes by each value of a label, as pprof adds them up."""
    text = pprof(profile, "-tags", f"-sample_index={sample}", "-unit=B", f"-tagshow=^{tag}$", "-nodefraction=0")
    found, here = {}, False
    for line in text.splitlines():
        if match := re.match(r"\s*(\S+): Total ", line):
            here = match.group(1) == tag
        elif here and (match := re.match(r"\s*(\d+)B? \(\s*[\d.e-]+%\): (.*)", line)):
            found[match.group(2).strip()] = int(match.group(1))
    return {value: size for value, size in found.items() if size}  # others have none of this type


# speedscope

def speedscope_folder() -> Path | None:
    """The npm package's, below the folder that MEMTRACE_SPEEDSCOPE names (its node_modules' parent)."""
    folder = os.environ.get("MEMTRACE_SPEEDSCOPE")
    found = Path(folder) / "node_modules" / "speedscope" if folder else None
    return found if found and found.is_dir() and shutil.which("node") else None


def speedscope(file: Path) -> dict:
    done = subprocess.run(["node", HERE / "speedscope_import.js", speedscope_folder(), file], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])
