# SPDX-License-Identifier: Apache-2.0
import collections
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))

SLOW_TIMEOUT_S = 2 * 3600  # of those that CI leaves out; of all others pytest.ini has it
# Begun first where several workers share the tests: their files take minutes, some with one test.
FIRST = ("versions", "wheel", "browser", "advice")


# Where the tests run in the background (nohup, a job of a script) it is ignored, and what they start inherits that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is slow
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.parent.name not in FIRST)
    cases = collections.Counter()
    for item in items:
        share = item.get_closest_marker("one_in")
        if share and not item.get_closest_marker("slow"):
            if cases[item.path, item.originalname] % share.args[0]:
                item.add_marker(pytest.mark.slow)
            cases[item.path, item.originalname] += 1
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT_S))


@pytest.fixture(scope="session")
def built():
    """The build under test; a clear failure where there is none."""
    import runs

    for part in (runs.memtrace(), runs.library()):
        if not part.exists():
            pytest.fail(f"{part} is missing: run scripts/build, or set MEMTRACE_BUILD", pytrace=False)
    return runs.build()


@pytest.fixture(scope="session")
def examples(built, tmp_path_factory):
    """A folder with small traces of every kind, made by hand; no test writes there."""
    folder = tmp_path_factory.mktemp("examples")
    subprocess.run([built / "tests/example_traces", folder], check=True)
    return folder
