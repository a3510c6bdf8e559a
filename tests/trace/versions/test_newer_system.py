# SPDX-License-Identifier: Apache-2.0
"""A Python that is newer than memtrace: one sentence says what is missing because of it, the program
runs as ever, and what needs no Python is recorded."""

import json
import re

import pytest

import other_systems

pytestmark = pytest.mark.slow
PRELOADED = "/memtrace/libmemtrace.so /memtrace/simulator/cuda13/libmemtrace_cuda.so"
UNKNOWN = b"memtrace: no Python call stacks: only Python 3.9 to 3.13 is supported\n"

CUDA_CALLS = """
import ctypes, sys
assert sys.version_info >= (3, 14)
pointer = ctypes.c_void_p()
print("status", ctypes.CDLL(None).cudaMalloc(ctypes.byref(pointer), 3 << 20))
"""


def test_cuda_calls_are_recorded(newer):
    (newer.root / "tmp" / "calls.py").write_text(CUDA_CALLS)
    bare = newer.run("LD_PRELOAD=/memtrace/simulator/cuda13/libmemtrace_cuda.so python3.14 calls.py").expect(0)
    done = newer.run(f"rm -f *.mtrace; LD_PRELOAD='{PRELOADED}' python3.14 calls.py").expect(0)
    assert done.stdout == bare.stdout == b"status 0\n"
    told = newer.run("/memtrace/memtrace report *.mtrace").expect(0)
    assert re.search(rb"peak allocated +3 MiB", told.stdout)


def test_a_training_is_recorded_but_for_its_stacks(newer):
    newer.install_torch()
    (newer.root / "tmp" / "train.py").write_text(other_systems.TRAINING)
    bare = newer.run("/memtrace/memtrace dry-run --bare -- python3.14 train.py").expect(0)
    done = newer.run("rm -f *.mtrace; /memtrace/memtrace dry-run --no-report -- python3.14 train.py").expect(0)
    assert done.stdout == bare.stdout
    assert done.stderr.count(UNKNOWN) == 1
    peak = int(other_systems.PEAK.search(done.stdout.decode())[1])
    allocations = int(other_systems.ALLOCATIONS.search(done.stdout.decode())[1])
    said = newer.run("/memtrace/memtrace report *.mtrace --json report.json").expect(0).stdout
    report = json.loads((newer.root / "tmp" / "report.json").read_text())
    assert report["devices"][0]["peak_allocated_bytes"] == peak
    assert b"no Python call stacks: only Python 3.9 to 3.13 is supported" in said
    dumped = newer.run("/memtrace/memtrace dump --no-stacks *.mtrace").expect(0).stdout
    assert sum(json.loads(line)["kind"] == "alloc" for line in dumped.splitlines()) == allocations
