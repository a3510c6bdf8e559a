# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import pytest

import runs
import warm

sys.path[:0] = [str(runs.ROOT / "python")]

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def recorded(built, tmp_path_factory):
    """A training, what it said of itself, and the folder with its trace."""
    import json

    folder = tmp_path_factory.mktemp("recorded")
    done = warm.run([runs.python(), HERE / "programs" / "asks_itself.py"], folder,
                    env={"PYTHONPATH": str(runs.ROOT / "python")}).expect(0)
    return json.loads(done.stdout.splitlines()[-1]), folder, done.stderr.decode()


@pytest.fixture(autouse=True)
def the_built_command(built, monkeypatch):
    """On PATH, as after an installation."""
    monkeypatch.setenv("PATH", f"{runs.memtrace().parent}:/usr/bin:/bin")
