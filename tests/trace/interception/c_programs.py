# SPDX-License-Identifier: Apache-2.0
"""Builds the small C programs and libraries of these tests."""
import subprocess
from pathlib import Path

import runs

HEADERS = runs.ROOT / ".deps" / "cuda13" / "include"
RUNTIME = runs.ROOT / ".deps" / "cuda13" / "lib"
RUNTIME_12 = runs.ROOT / ".deps" / "cuda12" / "lib"
RUNTIME_NEWEST = runs.ROOT / ".deps" / "cuda_newest" / "lib"


def compiled(target: Path, *arguments: str | Path) -> Path:
    line = ["gcc", "-O1", "-g", "-Wall", "-o", str(target), *map(str, arguments)]
    outcome = subprocess.run(line, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    return target


def library(target: Path, *arguments: str | Path) -> Path:
    return compiled(target, "-shared", "-fPIC", *arguments)
