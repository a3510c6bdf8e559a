# SPDX-License-Identifier: Apache-2.0
"""The build runs on systems with glibc 2.28 and newer: a library that asks for more kills the
process that it is preloaded into."""

import json
import re

import pytest

import other_systems

FLOOR = (2, 28)

PRELOADED = "/memtrace/libmemtrace.so /memtrace/simulator/cuda13/libmemtrace_cuda.so"

CUDA_CALLS = """
import ctypes, threading
thread = threading.Thread(target=print, args=("a thread",))
thread.start()
thread.join()
cuda = ctypes.CDLL(None)
pointer = ctypes.c_void_p()
print("status", cuda.cudaMalloc(ctypes.byref(pointer), 3 << 20))
"""


@pytest.mark.parametrize("name", other_systems.PRODUCTS)
def test_nothing_needs_a_newer_glibc(name, built):
    newest = other_systems.newest_glibc(other_systems.version_needs(built / name))
    assert newest != (), "it names no version at all"
    assert newest <= FLOOR, f"{name} needs glibc {newest}: add the function to libc_floor/"


def test_what_needs_a_newer_glibc_is_seen():
    told = "  0x0010:   Name: GLIBC_2.4  Flags: none\n  0x0020:   Name: GLIBC_2.34  Flags: none\n"
    assert other_systems.newest_glibc(told) == (2, 34)
    assert other_systems.newest_glibc("  0x0010:   Name: GLIBC_2.2.5  Flags: none\n") == (2, 2, 5)


@pytest.mark.slow
def test_an_older_system_runs_a_process_with_the_library(older):
    done = older.run("LD_PRELOAD=/memtrace/libmemtrace.so /bin/echo still here").expect(0)
    assert done.stdout == b"still here\n"
    assert done.stderr == b""


@pytest.mark.slow
def test_an_older_system_records_and_reports(older):
    (older.root / "tmp" / "calls.py").write_text(CUDA_CALLS)
    done = older.run(f"rm -f *.mtrace; LD_PRELOAD='{PRELOADED}' python3 calls.py").expect(0)
    assert b"a thread\n" in done.stdout and b"status 0\n" in done.stdout
    told = older.run("/memtrace/memtrace report *.mtrace --json report.json").expect(0)
    assert re.search(rb"peak allocated +3 MiB", told.stdout)
    assert b"calls.py:8 <module>" in told.stdout, "the line is not known: no frames of Python 3.9"


@pytest.mark.slow
def test_an_older_system_trains_on_a_gpu_that_it_does_not_have(older):
    older.install_torch()
    (older.root / "tmp" / "train.py").write_text(other_systems.TRAINING)
    done = older.run("rm -f *.mtrace; /memtrace/memtrace dry-run -- python3 train.py").expect(0)
    peak = int(other_systems.PEAK.search(done.stdout.decode())[1])
    older.run("/memtrace/memtrace report *.mtrace --json report.json").expect(0)
    report = json.loads((older.root / "tmp" / "report.json").read_text())
    assert report["devices"][0]["peak_allocated_bytes"] == peak
    assert report["steps"]["count"] == 5
