# SPDX-License-Identifier: Apache-2.0
"""The allocator's methods are stood in front of where their parameters are those of a known release
of PyTorch, and left alone where they are not."""
import sys
from pathlib import Path

import pytest
import runs

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import c_programs  # noqa: E402

PROGRAMS = HERE / "programs"
RELEASES = [203, 206, 208, 210, 211]


@pytest.fixture
def run_both(built, tmp_path):
    """The program with such an allocator, bare and traced: what each printed, and the traced one's
    outcome."""

    def run(*defines: str, env: dict | None = None) -> tuple[list[str], list[str], runs.Outcome]:
        library = c_programs.library(tmp_path / "libc10_cuda.so", PROGRAMS / "c10_cuda.cpp", "-lstdc++",
                                     *(f"-D{define}" for define in defines))
        program = c_programs.compiled(tmp_path / "program", PROGRAMS / "program.cpp", library,
                                      f"-Wl,-rpath,{tmp_path}")
        bare = runs.run([program], None).expect(0)
        traced = runs.run([program], tmp_path / "traces", env=env).expect(0)
        return bare.stdout.decode().splitlines(), traced.stdout.decode().splitlines(), traced

    return run


def operations(outcome: runs.Outcome) -> list[tuple]:
    return [(one["operation"], one["device"], one["a"], one["b"], one["text"])
            for trace in outcome.traces for one in runs.dump(trace) if one["kind"] == "operation"]


def refused(outcome: runs.Outcome) -> list[str]:
    return [one["value"] for trace in outcome.traces for one in runs.dump(trace)
            if one["kind"] == "info" and one["key"] == "refused"]


def expected(release: int) -> list[tuple]:
    of_no_pool = (0, 0, "")
    fraction = 0x3FE8000000000000  # 0.75
    return [
        *([("pool_create", 1, 7, 8, "")] if release >= 208 else []),
        ("pool_begin", 1, 7, 8, ""),
        *([("pool_no_split", 1, 7, 8, "")] if release >= 210 else []),
        *([("pool_use_on_oom", 1, 7, 8, "off" if release >= 211 else "on")] if release >= 208 else []),
        ("pool_end", 1, 7, 8, ""),
        ("empty_cache_begin", 0, *((7, 8, "") if release >= 208 else of_no_pool)),
        ("empty_cache_end", 0, *((7, 8, "") if release >= 208 else of_no_pool)),
        ("memory_fraction", 1, fraction, 0, ""),
        ("pool_release", 1, 7, 8, ""),
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_methods_of_a_known_release_are_recorded(run_both, release):
    bare, traced, outcome = run_both(f"RELEASE={release}")
    assert bare[0] == "vtable as it was"
    assert traced[:2] == ["tracker", "vtable another"]
    assert traced[2:] == bare[1:]
    assert operations(outcome) == expected(release)
    assert refused(outcome) == []


@pytest.mark.parametrize(("define", "method"), [
    ("STRANGE_EMPTY", "emptyCache"), ("STRANGE_OOM", "setUseOnOOM"), ("WITHOUT_RELEASE", "releasePool")])
def test_methods_of_an_unknown_release_are_left_alone(run_both, define, method):
    bare, traced, outcome = run_both("RELEASE=211", define)
    assert traced == ["tracker", *bare]
    assert operations(outcome) == []
    line = f"the allocator's {method} is not that of a known PyTorch"
    assert outcome.stderr.decode().count(line) == 1
    assert all(f"allocator_methods: {line}" in refused(outcome) for _ in outcome.traces)


def test_an_unknown_tracker_is_not_attached(run_both):
    bare, traced, outcome = run_both("RELEASE=211", "STRANGE_TRACKER")
    assert traced == bare
    assert outcome.stderr.decode().count("this PyTorch's allocator is not known") == 1


def test_switched_off(run_both):
    bare, traced, outcome = run_both("RELEASE=211", env={"MEMTRACE_ALLOCATOR_METHODS": "0"})
    assert traced == ["tracker", *bare]
    assert operations(outcome) == []
    assert b"known PyTorch" not in outcome.stderr
