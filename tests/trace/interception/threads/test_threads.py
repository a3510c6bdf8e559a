# SPDX-License-Identifier: Apache-2.0
"""Sixteen threads allocate on two devices and free what others made: nothing is lost, and the order
of the trace can have happened. With the thread sanitizer: the ctest many_threads, and the slow test
here, which needs the tsan build (scripts/build tsan)."""
import os
import subprocess
import sys
from pathlib import Path

import pytest
import runs

HERE = Path(__file__).resolve().parent
HEADERS = runs.ROOT / ".deps" / "cuda13" / "include"
sys.path.insert(0, str(HERE))
from replayed import replayed  # noqa: E402

THREADS = 16
MILLION = 1_000_000


def build(target: Path, *flags: str | Path) -> Path:
    line = ["g++", "-std=c++20", "-O1", "-g", "-isystem", HEADERS, "-o", target, HERE / "allocations.cpp", *flags,
            "-lpthread"]
    outcome = subprocess.run([str(part) for part in line], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    return target


def check(trace: Path, count: int) -> None:
    dump = subprocess.Popen([str(runs.memtrace()), "dump", "--no-stacks", str(trace)], stdout=subprocess.PIPE,
                            text=True, env=runs.environment())
    result = replayed(dump.stdout)
    assert dump.wait() == 0
    assert not result.wrong, result.wrong[:5]
    assert (result.allocations, result.releases, result.left) == (count, count, 0)


@pytest.mark.parametrize("count", [100_000, pytest.param(MILLION, marks=pytest.mark.slow)])
def test_no_allocation_is_lost_and_the_order_is_right(built, tmp_path, count):
    core = runs.build() / "simulator" / "cuda13"
    program = build(tmp_path / "allocations", f"-L{core}", "-lmemtrace_cuda")
    run = runs.run([program, THREADS, count], tmp_path / "traces", devices=2).expect(0)
    (trace,) = run.traces
    check(trace, count)


@pytest.mark.slow
def test_a_million_allocations_without_a_race(built, tmp_path):
    sanitized = Path(os.environ.get("MEMTRACE_TSAN_BUILD", runs.ROOT / "build" / "tsan")).absolute()
    if not (sanitized / "libmemtrace.so").exists():
        pytest.skip(f"{sanitized} has no libmemtrace.so: run scripts/build tsan")
    core = sanitized / "simulator" / "cuda13"
    program = build(tmp_path / "allocations", "-fsanitize=thread", "-Wl,--no-as-needed", f"-L{sanitized}",
                    "-lmemtrace", f"-L{core}", "-lmemtrace_cuda", f"-Wl,-rpath,{sanitized}:{core}")
    variables = runs.environment({"MEMTRACE_SIM_DEVICES": "2", "MEMTRACE_OUTPUT": str(tmp_path / "traces")})
    run = subprocess.run([program, str(THREADS), str(MILLION)], env=variables, capture_output=True, text=True,
                         timeout=1800, check=False)
    assert run.returncode == 0, run.stderr[-4000:]  # 66 where the sanitizer saw a race
    assert "ThreadSanitizer" not in run.stderr
    (trace,) = runs.traces_in(tmp_path / "traces")
    check(trace, MILLION)
