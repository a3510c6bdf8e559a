# SPDX-License-Identifier: Apache-2.0
"""The command itself: what it says to somebody who does not know it yet."""

import re

import pytest

import runs


def test_the_command_alone_prints_its_help_in_groups(built):
    done = runs.memtrace_says()
    assert done.returncode == 2 and not done.stdout
    groups = re.findall(r"^(Record|Read|Plan|Share|Look inside):?$", done.stderr, re.MULTILINE)
    assert groups == ["Record", "Read", "Plan", "Share", "Look inside"]
    assert done.stderr.count("\n  report ") == 1  # each subcommand once


@pytest.mark.parametrize("written, meant", [("reprot", "report"), ("dryrun", "dry-run"), ("chekc", "check")])
def test_a_misspelt_subcommand_is_told_which_one_is_meant(built, written, meant):
    done = runs.memtrace_says(written, "traces")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"there is no memtrace {written}; did you mean {meant}?" in done.stderr


def test_what_is_near_no_subcommand_gets_no_guess(built):
    done = runs.memtrace_says("train.py")
    assert done.returncode == 2 and "did you mean" not in done.stderr and "--help" in done.stderr


@pytest.mark.parametrize("written, meant", [
    (["report", "traces", "--jsno", "x"], "memtrace report has no --jsno; did you mean --json?"),
    (["dry-run", "--mem", "4GiB", "--", "true"], "memtrace dry-run has no --mem; did you mean --memory?"),
    (["run", "--memory", "4GiB", "--", "true"],
     "memtrace run has no --memory; memtrace dry-run, memtrace replay have it"),
    (["report", "traces", "--colours=no"], "memtrace report has no --colours; memtrace report --help lists what it has"),
])
def test_an_unknown_option_is_told_with_the_one_that_is_meant(built, written, meant):
    done = runs.memtrace_says(*written)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.strip().endswith(meant)


def test_what_is_not_expected_is_told_as_it_was_written(built):
    done = runs.memtrace_says("dry-run", "python", "train.py")
    assert done.returncode == 2
    assert done.stderr == "memtrace: python train.py are not expected; put the program and its arguments after --\n"


@pytest.mark.parametrize("options", [["-v"], ["-vv"], ["--log-level", "info"], ["--log-level=info"]])
def test_what_to_say_may_stand_before_the_subcommand(examples, tmp_path, options):
    done = runs.memtrace_says(*options, "dry-run", "--bare", "--", "true")
    assert done.returncode == 0 and "starting true" in done.stderr
    done = runs.memtrace_says(*options, "report", "--html", examples / "clean.mtrace", cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "memtrace-report.html").exists()
    assert "did you mean report?" in runs.memtrace_says(*options, "reprot", "x").stderr
