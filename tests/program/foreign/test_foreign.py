# SPDX-License-Identifier: Apache-2.0
"""The runner tells every end of a test from every other, and one real module ends the same."""

import json
from pathlib import Path

import pytest

import compared
import isolated
import results

pytestmark = pytest.mark.usefixtures("built")

MODULES = str(Path(__file__).resolve().parent / "modules")


@pytest.fixture(scope="module")
def made_up(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made_up")
    module = isolated.Module("made_up", (MODULES,), brings_cuda=True, silence_s=20,
                             variables=(("MADE_UP_STATE", str(folder)),))
    return compared.compare(module, folder / "work")


def test_every_end_is_told(made_up):
    ends = {name.removeprefix("made_up."): how for name, how in made_up.bare.tests.items()}
    assert ends == {
        "Ends.test_passes": "passed", "Ends.test_fails": "failed: AssertionError",
        "Ends.test_raises": "failed: KeyError", "Ends.test_skips": "skipped",
        "Ends.test_fails_as_expected": "failed as expected",
        "Ends.test_sub_test_fails": "failed: AssertionError",
        "Ends.test_dies": ends["Ends.test_dies"], "Ends.test_hangs": "hung",
        "Ends.test_passes_at_last": "passed",
        "setUpClass (made_up.NoSetUp)": "failed: OSError", "NoSetUp.test_is_not_reached": "not run",
        "LooksForUs.test_is_not_watched": "passed",
        "LooksForUs.test_is_unsteady": ends["LooksForUs.test_is_unsteady"],
    }
    assert ends["Ends.test_dies"] in ("ended the process (-9)", "ended the process (137)")
    assert made_up.bare.processes >= 3


def test_a_difference_is_one_that_stays(made_up):
    bare, traced = made_up.different["made_up.LooksForUs.test_is_not_watched"]
    assert set(bare) == {"passed"} and set(traced) == {"failed: AssertionError"}
    assert set(made_up.different) == {"made_up.LooksForUs.test_is_not_watched"}
    assert made_up.unsteady == ["made_up.LooksForUs.test_is_unsteady"]


def test_what_is_written(made_up, tmp_path):
    facts = {"python": "3.0", "torch": "2.0", "date": "2000-01-01"}
    results.keep(made_up, facts, tmp_path)
    results.write(tmp_path)
    assert sum(json.loads((tmp_path / "lists" / "made_up.json").read_text())["ended"].values()) == 13
    text = (tmp_path / "RESULTS.md").read_text()
    assert "13 tests, 1 different." in text
    assert "bare 4 × passed; traced 4 × failed: AssertionError" in text


@pytest.mark.slow
def test_cpython_s_own_tests_of_the_collector(built, tmp_path):
    found = compared.compare(isolated.Module("test.test_gc"), tmp_path)
    assert found.bare.tests == found.traced.tests
    assert sum(how == "passed" for how in found.traced.tests.values()) > 40
    assert found.traced.traces >= 1 and found.traced.wrong == []
