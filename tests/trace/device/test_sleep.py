# SPDX-License-Identifier: Apache-2.0
"""Engines whose memory sleeps while others work on the same GPU: at each moment the report counts what is resident, as
the program does that knows what it put to sleep, and as the driver does."""
import sys
from pathlib import Path

import pytest

import recordings
import runs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interception"))
import c_programs  # noqa: E402

PROGRAMS = Path(__file__).parent / "programs"
GIB = 1 << 30


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    return c_programs.library(tmp_path_factory.mktemp("pool") / "libpool.so", PROGRAMS / "pool_that_sleeps.c",
                              f"-I{c_programs.HEADERS}", "-ldl")


def run(library: Path, folder: Path, case: str, status: int = 0) -> tuple[list[list[int]], dict]:
    """The program's moments (resident, asleep, in use), and the report."""
    command = [runs.python(), PROGRAMS / "sleeping_pool.py", library, case]
    outcome = recordings.run(command, folder, gpu="rtx3090").expect(status)
    moments = [[int(word) for word in line.split()] for line in outcome.stdout.splitlines()]
    return moments, runs.report(outcome.traces, folder)


def check(moments: list[list[int]], device: dict) -> None:
    resident, asleep, in_use = (max(column) for column in zip(*moments))
    assert device["peak_allocated_bytes"] == resident
    assert device["at_peak"]["allocated_bytes"] == resident
    assert sum(row["bytes"] for row in device["at_peak"]["categories"]) == resident
    assert sum(row["bytes"] for row in device["at_peak"]["call_sites"]) == resident
    assert device["asleep"]["bytes"] == asleep
    assert device["used"]["used_bytes"] == in_use
    assert device["unexplained_bytes"] == 0
    assert resident <= in_use <= device["capacity_bytes"]


# How often memory falls asleep. Python frees at its end what was asleep until then.
CASES = {"whole": 8, "turns": 6, "part": 2, "wakes_highest": 2, "ends_asleep": 1, "freed": 1}


@pytest.mark.parametrize("case", CASES)
def test_what_is_resident_counts(built, library, tmp_path, case):
    moments, report = run(library, tmp_path, case)
    device, = report["devices"]
    check(moments, device)
    assert report["headline"]["state"] == "fits"
    assert device["asleep"]["times"] == CASES[case]
    assert device["asleep"]["at_end_bytes"] == 0
    assert all("sleeping_pool.py" in site["frames"][0]["file"] for site in device["asleep"]["sites"])


def test_a_wake_up_that_is_refused(built, library, tmp_path):
    moments, report = run(library, tmp_path, "refused", status=1)
    device, = report["devices"]
    assert report["headline"]["state"] == "out_of_memory"
    assert "asleep" in report["headline"]["text"]
    refused, = report["refused_outside"]
    assert refused["requested_bytes"] == GIB
    assert device["unexplained_bytes"] == 0
    assert device["peak_allocated_bytes"] >= max(moment[0] for moment in moments)
