# SPDX-License-Identifier: Apache-2.0
"""The sets of short runs themselves: half of each leaks, of all lengths, each with the lines that its truth needs."""

import ast

import pytest

import judge
from corpus import SETS_OF_SHORT_RUNS as SETS
from short_runs_table import LENGTHS
from truth import FILLS, GROWS, PROGRAMS

# Most of the other sets do not accumulate: they count false alarms.
HALVES = ("short", "second", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")

PUBLISHED = ("ninth", "tenth", "eleventh", "twelfth")


@pytest.fixture(params=list(SETS))
def name(request):
    return request.param


def test_every_program_has_one_truth(name):
    assert sorted(truth.program for truth in SETS[name]) == sorted(path.stem for path in PROGRAMS.glob(f"{name}_*.py"))


@pytest.mark.parametrize("name", HALVES)
def test_half_accumulate_and_half_do_not(name):
    leaks = sum(truth.memory == GROWS for truth in SETS[name])
    assert len(SETS[name]) >= 32
    assert abs(2 * leaks - len(SETS[name])) <= 2


@pytest.mark.parametrize("fewest, most", LENGTHS)
def test_a_third_is_of_each_length(name, fewest, most):
    of_this = sum(fewest <= truth.steps[0] <= most for truth in SETS[name])
    assert 3 * of_this == pytest.approx(len(SETS[name]), rel=0.15)


@pytest.mark.parametrize("truth", [one for them in SETS.values() for one in them], ids=lambda truth: truth.program)
def test_a_truth_is_about_the_program_as_it_stands(truth):
    """Its length is the program's own; a leak marks its lines and names its keeper, any other marks no leak."""
    numbers = [keyword.value.value for node in ast.walk(ast.parse(truth.path.read_text()))
               if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"
               and node.args[0].value == "--steps" for keyword in node.keywords if keyword.arg == "default"]
    assert truth.steps == (truth.min_steps,) == tuple(numbers)
    assert judge.must_speak(truth) == (truth.memory == GROWS)
    if truth.memory == GROWS:
        assert truth.lines("allocates") and truth.kept_by
    else:
        assert not truth.lines("allocates") and not truth.lines("keeps")
    assert bool(truth.lines("fills")) == (truth.memory == FILLS)


@pytest.mark.parametrize("truth", [truth for name in PUBLISHED for truth in SETS[name]],
                         ids=lambda truth: truth.program)
def test_a_published_case_says_where(truth):
    assert truth.source.startswith("https://")
