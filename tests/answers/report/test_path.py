# SPDX-License-Identifier: Apache-2.0
"""memtrace path: where the library is, for LD_PRELOAD."""

import shutil
import subprocess

import runs


def test_path_prints_the_library(built):
    done = subprocess.run([runs.memtrace(), "path"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{runs.library().resolve()}\n" and done.stderr == ""


def test_path_without_a_library_says_what_to_do(built, tmp_path):
    alone = shutil.copy(runs.memtrace(), tmp_path / "memtrace")
    done = subprocess.run([alone, "path"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1 and "scripts/build" in done.stderr
