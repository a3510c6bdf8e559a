# SPDX-License-Identifier: Apache-2.0
"""The same program bare and under memtrace: what it computes, keeps, pickles and leaves behind.

Every program prints what it sees; the two outputs must be the same, byte for byte."""

import re

import pytest

from observed import said_the_same

pytestmark = pytest.mark.usefixtures("built")


def test_numbers_pickles_and_allocator(tmp_path):
    said = said_the_same(tmp_path, "numbers_and_pickles")
    assert len(re.findall(r"as saved: [0-9a-f]{32}", said)) > 40
    # On the CPU something is learned: numbers that could differ.
    assert len(set(re.findall(r"cpu AdamW loss \d: .*", said))) == 3


def test_what_is_left_in_the_process(tmp_path):
    assert said_the_same(tmp_path, "process_state").count("exception: Traceback") == 3


def test_lifetimes(tmp_path):
    said = said_the_same(tmp_path, "lifetimes")
    assert re.search(r"without the optimizer: \['optimizer'", said)
    assert re.search(r"without the model: \['module '", said)
