# SPDX-License-Identifier: Apache-2.0
"""The newest Pythons' leaks, and what only looks like one, are answered as those of the Python that runs the tests."""

import pytest

import environments
import interpreters
from corpus import CORPUS
from judged import Run, judge_run

pytestmark = pytest.mark.slow
VERSIONS = [environments.Version("2.11.0", "3.14"), environments.Version(environments.NEWEST, interpreters.VERSIONS[-1])]
# Those that need no package besides PyTorch.
TRUTHS = [truth for truth in CORPUS
          if truth.set == "base" and truth.subject == ("device",) and "transformers" not in truth.path.read_text()]


@pytest.fixture(params=VERSIONS, ids=lambda version: version.name, scope="module")
def its_python(request):
    try:
        return environments.installed(request.param)
    except environments.Unavailable as why:
        pytest.skip(str(why))


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_a_program_is_judged_as_ever(built, its_python, truth, monkeypatch):
    monkeypatch.setenv("MEMTRACE_PYTHON", its_python)
    wrong = set(judge_run(Run(truth, truth.steps)).wrong()) - set(truth.by_chance)
    assert wrong == set(truth.known_wrong)
