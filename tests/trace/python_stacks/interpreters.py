# SPDX-License-Identifier: Apache-2.0
"""The CPython interpreters of this machine: on PATH, and below pyenv's root."""
import functools
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

VERSIONS = ["3.9", "3.10", "3.11", "3.12", "3.13"]
# As parameters of a test: CI has the one that runs the tests.
CASES = [pytest.param(version, marks=() if version == "%d.%d" % sys.version_info[:2] else pytest.mark.slow)
         for version in VERSIONS]


def _candidates(version):
    yield shutil.which("python" + version)
    root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    yield from sorted(root.glob("versions/%s.*/bin/python%s" % (version, version)))
    yield shutil.which("python3")


@functools.lru_cache(maxsize=None)
def find(version):
    """The path of an interpreter of this version that runs, or None."""
    question = "import sys, ctypes; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, _candidates(version)):
        answer = subprocess.run([str(path), "-c", question], capture_output=True, text=True)
        if answer.stdout.strip() == version:
            return str(path)
    return None
