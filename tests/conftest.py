# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long; the results scripts run it")


@pytest.fixture(scope="session")
def built():
    """The build under test; a clear failure where there is none."""
    import runs

    for part in (runs.memtrace(), runs.library()):
        if not part.exists():
            pytest.fail(f"{part} is missing: run scripts/build, or set MEMTRACE_BUILD", pytrace=False)
    return runs.build()
