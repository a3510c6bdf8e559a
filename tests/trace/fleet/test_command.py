# SPDX-License-Identifier: Apache-2.0
"""memtrace fleet, from the command itself: one way through to Python, and a sentence where that lacks something."""

import json
import re
import subprocess

import runs


def command(*arguments, python=None, **environment):
    variables = {"MEMTRACE_PYTHON": str(python or runs.python()), **environment}
    return subprocess.run([runs.memtrace(), "fleet", *map(str, arguments)], capture_output=True, text=True,
                          env=runs.environment(variables))


def test_from_the_command_to_the_answer(recorded, tmp_path):
    added = command("add", tmp_path / "store", recorded["leaks"].folder, "--project", "vision")
    assert added.returncode == 0 and "1 added" in added.stderr and not added.stdout
    told = command("report", tmp_path / "store", "--question", "leaking_runs", LD_PRELOAD=str(runs.library()))
    assert told.returncode == 0 and "trains.py" in told.stdout and not told.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["store"]  # nothing was recorded


def test_gpus_are_those_that_can_be_simulated():
    told = json.loads(command("gpus", python="/nowhere").stdout)
    listed = subprocess.run([runs.memtrace(), "dry-run", "--gpu", "list"], capture_output=True, text=True).stdout
    rows = [re.match(r"(\S+)\s+([\d.]+) GiB  (.*)", line).groups() for line in listed.splitlines()]
    assert [(one["gpu"], f"{one['capacity_bytes'] / 2**30:.1f}", one["name"]) for one in told] == rows and len(rows) > 10


def test_help_and_what_is_misspelt():
    assert "memtrace fleet report" in command("report", "--help").stdout
    wrong = command("report", "x", "--jsno", "y")
    assert wrong.returncode == 2 and len(wrong.stderr.splitlines()) == 1 and "--help says more" in wrong.stderr
    none = command()
    assert none.returncode == 2 and len(none.stderr.splitlines()) == 1


def test_without_python(tmp_path):
    done = command("report", tmp_path, python=tmp_path / "none")
    assert done.returncode == 1 and "fleet needs Python, and" in done.stderr and "MEMTRACE_PYTHON" in done.stderr


def test_without_the_packages(recorded, tmp_path):
    """A Python whose site-packages are not looked at."""
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {runs.python()} -S "$@"\n')
    bare.chmod(0o755)
    for arguments in (["add", tmp_path / "store", recorded["steady"].folder], ["report", tmp_path]):
        done = command(*arguments, python=bare)
        sentence, = done.stderr.splitlines()
        assert done.returncode == 1 and "needs the package fsspec" in sentence and "pip install 'gpu-memtrace[fleet]'" in sentence
    assert not (tmp_path / "store").exists()


def test_views_are_printed_as_sql():
    told = command("views")
    assert told.stdout.count("CREATE OR REPLACE TEMPORARY VIEW") == 11 and told.stdout.endswith(";\n")
