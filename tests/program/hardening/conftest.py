# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import stage as stages  # noqa: E402


@pytest.fixture(scope="module")
def machine(built):
    """Shared by a module's tests: each takes names of its own."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be two other users")
    made = stages.make()
    yield made
    shutil.rmtree(made.root)
