# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import other_systems  # noqa: E402


def made(release, built):
    """That system with today's products in it."""
    try:
        system = other_systems.make(release)
    except other_systems.Unavailable as why:
        pytest.skip(str(why))
    system.take(built)
    return system


@pytest.fixture(scope="module")
def older(built):
    return made(other_systems.OLDER, built)


@pytest.fixture(scope="module")
def newer(built):
    return made(other_systems.NEWER, built)
