# SPDX-License-Identifier: Apache-2.0
"""The CPython interpreters of this machine: the one that runs the tests, on PATH, below pyenv's root;
the newest from Debian's packages."""
import functools
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import other_systems

VERSIONS = ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"]
RUNNING = "%d.%d" % sys.version_info[:2]
# As parameters of a test: CI has the one that runs the tests.
CASES = [pytest.param(version, marks=() if version == RUNNING else pytest.mark.slow)
         for version in VERSIONS]


def _candidates(version):
    if version == RUNNING:
        yield sys.executable
    yield shutil.which("python" + version)
    root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    yield from sorted(root.glob("versions/%s.*/bin/python%s" % (version, version)), reverse=True)
    yield shutil.which("python3")
    yield other_systems.newest_interpreter(version)


@functools.lru_cache(maxsize=None)
def find(version):
    """The path of an interpreter of this version that runs, or None."""
    question = "import sys, ctypes; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, _candidates(version)):
        # pyenv's stand-in on PATH fails where the version is installed but not chosen.
        answer = subprocess.run([str(path), "-c", question], capture_output=True, text=True)
        if answer.stdout.strip() == version:
            return str(path)
    return None
