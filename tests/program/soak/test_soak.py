# SPDX-License-Identifier: Apache-2.0
"""The soak of scripts/soak, for a minute; and that it finds what it looks for."""

import copy

import pytest

import watched
import runs
import soak

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("built")]


@pytest.fixture(scope="module")
def short(built):
    return watched.observe(seconds=60, every=3, period=2)


def test_a_short_soak(short):
    assert soak.what_is_wrong(short) == []
    assert len(short["traced"]["cycles"]) >= 5
    assert short["trace"]["events"] > 5000


def leaks_memory(found):
    for number, one in enumerate(found["traced"]["samples"]):
        one["anonymous"] += number * (20 << 20)


def leaks_descriptors(found):
    for number, one in enumerate(found["traced"]["samples"]):
        one["descriptors"] += number


def loses_an_event(found):
    found["trace"]["alloc"] -= 1


def counts_otherwise(found):
    found["traced"]["cycles"][1] += "1"


def ends_otherwise(found):
    found["traced"]["status"] = 1


@pytest.mark.parametrize("breaks", [
    leaks_memory, leaks_descriptors, loses_an_event, counts_otherwise, ends_otherwise])
def test_what_goes_wrong_is_told(short, breaks):
    found = copy.deepcopy(short)
    breaks(found)
    assert len(soak.what_is_wrong(found)) == 1


def test_gradients_that_are_added_to_take_no_memory(tmp_path):
    """Bare it grows by nothing; 24,000 times two gradients are 1.5 MiB where each leaves 32 bytes."""
    command = [runs.python(), str(watched.PROGRAM.with_name("accumulates.py")), "24000"]
    bare, traced = (int(runs.run(command, output).expect(0).stdout) for output in (None, tmp_path))
    assert bare < 512
    assert traced < 512
