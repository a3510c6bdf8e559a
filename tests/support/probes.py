# SPDX-License-Identifier: Apache-2.0
"""Libraries that the build makes for the tests alone: parts of libmemtrace.so, to be loaded by ctypes."""

from pathlib import Path

import pytest

import runs


def path_of(name: str) -> Path:
    return runs.build() / "tests" / f"lib{name}.so"


def need(*names: str) -> None:
    """Skips where nothing is built; where something is, a probe that is missing is a failure."""
    if not runs.build().is_dir():
        pytest.skip(f"nothing is built in {runs.build()}: run scripts/build, or set MEMTRACE_BUILD")
    missing = [str(path_of(name)) for name in names if not path_of(name).exists()]
    assert not missing, f"the build has no {', '.join(missing)}: was it renamed, or is it not built?"
