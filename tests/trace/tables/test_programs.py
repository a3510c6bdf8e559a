# SPDX-License-Identifier: Apache-2.0
"""Every training program: its database gives the report's numbers, to the byte."""

import sqlite3

import pytest

import exports
import programs
import recordings
import runs

PROGRAMS = sorted([*programs.having("each_setting"), *programs.having("oom")])


def test_there_are_programs():
    assert len(PROGRAMS) > 10


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program(built, tmp_path, program):
    done = recordings.run([runs.python(), programs.path(program)], tmp_path / "traces", timeout=900)
    trace, = done.traces
    report = runs.report([trace], tmp_path)
    made = exports.export([trace], "sqlite", tmp_path / "run.db")
    with sqlite3.connect(f"file:{made}?mode=ro", uri=True) as opened:
        assert exports.differences(opened, report) == []
