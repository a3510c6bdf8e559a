# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import other_systems  # noqa: E402


@pytest.fixture(scope="module")
def older(built):
    """That system with today's products in it."""
    try:
        system = other_systems.make(other_systems.OLDER)
    except other_systems.Unavailable as why:
        pytest.skip(str(why))
    system.take(built)
    return system
