# SPDX-License-Identifier: Apache-2.0
"""Each bad argument and each trace of no use gets one sentence, and exit status 2."""

from __future__ import annotations

import subprocess

import pytest

import runs
from checks import UNKNOWN, check

BAD = {
    "no unit": (["--max-peak", "20"], "such as --max-peak 20GiB"),
    "nonsense": (["--max-peak", "much"], "such as --max-peak 20GiB"),
    "negative": (["--max-reserved=-1GiB"], "such as --max-reserved 20GiB"),
    "zero": (["--max-peak", "0GiB"], "such as --max-peak 20GiB"),
    "empty": (["--max-peak", ""], "such as --max-peak 20GiB"),
    "no limit": ([], "there is nothing to check"),
    "tolerance alone": (["--no-leaks", "--tolerance", "2%"], "--against"),
    "tolerance without a unit": (["--against", "BEFORE", "--tolerance", "2"], "such as --tolerance 2%"),
    "tolerance of nonsense": (["--against", "BEFORE", "--tolerance", "some%"], "such as --tolerance 2%"),
    "unknown option": (["--max-peek", "2GiB"], "did you mean --max-peak?"),
    "no baseline": (["--against", "nowhere.mtrace"], "no such file"),
    "itself": (["--against", "TRACE"], "is in both runs"),
    "two on standard output": (["--no-leaks", "--json", "-", "--github"], "standard output"),
}


def one_sentence(done: subprocess.CompletedProcess, words: str) -> None:
    assert (done.returncode, done.stdout) == (UNKNOWN, "")
    assert words in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(examples, name):
    arguments, words = BAD[name]
    named = {"TRACE": examples / "clean.mtrace", "BEFORE": examples / "named.mtrace"}
    one_sentence(check(named["TRACE"], *[named.get(text, text) for text in arguments]), words)


def test_no_trace_named():
    one_sentence(check("--no-leaks"), "TRACE")


@pytest.mark.parametrize("name, content, words", [
    ("nothing.mtrace", None, "no such file"), ("text.mtrace", b"hello", "is not a memtrace trace"),
    ("cut.mtrace", b"MEMTRACE\x01\0\0\0", "is cut off after 12 bytes"),
])
def test_what_is_no_trace(built, tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    one_sentence(check(tmp_path / name, "--no-leaks"), words)


@pytest.mark.parametrize("name", ["no_gpu_memory", "truncated"])  # the second lost its only block
def test_a_trace_without_a_device(examples, name):
    one_sentence(check(examples / f"{name}.mtrace", "--max-peak", "20GiB"), "nothing to check")


def test_a_file_that_cannot_be_written(examples, tmp_path):
    done = check(examples / "clean.mtrace", "--max-peak", "20GiB", "--json", tmp_path / "no" / "check.json")
    assert done.returncode == UNKNOWN
    assert "cannot be written" in done.stderr


def test_the_help_says_what_the_exit_statuses_mean(built):
    done = check("--help")
    assert done.returncode == 0
    assert "2 cannot tell" in done.stdout and str(runs.memtrace()) not in done.stdout
