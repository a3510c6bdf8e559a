# SPDX-License-Identifier: Apache-2.0
"""Destructors, exit handlers and threads that call CUDA after the interpreter has ended, and before it begins."""

import sys
from pathlib import Path

import pytest
import runs
from pairs import PROGRAMS, run_both

TRACE = Path(__file__).resolve().parents[2] / "trace"
sys.path.append(str(TRACE / "interception"))
import c_programs  # noqa: E402
import interpreters  # noqa: E402

pytestmark = pytest.mark.usefixtures("built")
BLOCKS = 200  # that the library takes, and takes once more at each moment


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return c_programs.library(tmp_path_factory.mktemp("library") / "frees_late.so", f"-I{c_programs.HEADERS}",
                              PROGRAMS / "frees_late.c", "-ldl", "-lpthread")


def counted(trace: Path, name: str) -> int:
    calls = [line["api"] for line in runs.dump(trace, stacks=False) if line["kind"] == "cuda_call"]
    return sum(api.startswith(name) for api in calls)


def agree(traces: list[Path], moments: int) -> None:
    assert len(traces) == 1
    assert counted(traces[0], "cuMemAlloc") == counted(traces[0], "cuMemFree") == BLOCKS * (1 + moments)


@pytest.mark.parametrize("version", interpreters.CASES)
def test_memory_that_outlives_the_interpreter(library, version, tmp_path):
    interpreter = interpreters.find(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} on this machine")
    pair = run_both([interpreter, PROGRAMS / "frees_late.py", library], tmp_path)
    assert pair.bare.status == 0
    assert pair.bare.stdout.splitlines() == [
        b"leaving", b"used by a thread's object", b"used by a thread", b"used at exit", b"used by a destructor"]
    agree(pair.traced.traces, moments=3)  # destructors run after the end of a trace


def test_memory_that_outlives_the_interpreter_and_torch(library, tmp_path):
    pair = run_both([runs.python(), PROGRAMS / "frees_late.py", library, "torch"], tmp_path)
    assert pair.bare.status == 0
    agree(pair.traced.traces, moments=3)


def test_memory_before_the_interpreter(library, tmp_path):
    early = f'LD_PRELOAD="{library}:$LD_PRELOAD" MEMORY_BEFORE_PYTHON=1 exec "$@"'
    pair = run_both(["sh", "-c", early, "sh", sys.executable, "-c", "print('Python')"], tmp_path)
    assert pair.bare.status == 0
    assert pair.bare.stdout.startswith(b"used before Python\nPython\n")
    agree(pair.traced.traces, moments=2)  # its destructor runs before ours
