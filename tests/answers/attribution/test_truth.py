# SPDX-License-Identifier: Apache-2.0
"""The truth itself, beside sizes worked out by hand: parameters, gradients, states, batches, and
what autograd has to keep of a perceptron with two hidden layers."""

from collections import Counter

import pytest

import programs
import truth_cases

BATCH, PIXELS, WIDTH, CLASSES = 4096, 784, 2048, 10
FLOAT, LONG, BOOL = 4, 8, 1
PARAMETERS = PIXELS * WIDTH + WIDTH + WIDTH * WIDTH + WIDTH + WIDTH * CLASSES + CLASSES
# Each hidden layer keeps three: the rectified sum, dropout's mask and dropout's result.
KEPT_OF_HIDDEN = 2 * BATCH * WIDTH * (FLOAT + BOOL + FLOAT)
# The logarithms of the softmax, and the total of the classes' weights (one number).
KEPT_OF_LOSS = BATCH * CLASSES * FLOAT + FLOAT


def of_case(name: str) -> truth_cases.Case:
    return next(case for case in truth_cases.CASES if case.name == name)


@pytest.fixture(scope="module")
def perceptron(built, tmp_path_factory):
    return truth_cases.collect_only(of_case("perceptron"), tmp_path_factory.mktemp("truth"))


def test_every_program_that_tells_its_categories_has_a_case():
    assert {case.program for case in truth_cases.CASES} == set(programs.having("category_truth"))
    for case in truth_cases.CASES:
        assert case.ranks == programs.ranks(case.program), case.name


def requested(moment: dict) -> Counter:
    return Counter({role: sum(block["requested"] for block in moment["blocks"] if block["role"] == role)
                    for role in {block["role"] for block in moment["blocks"]}})


def test_nothing_is_forgotten_and_nothing_changes(perceptron):
    found, truth = perceptron
    assert not truth["failures"]
    assert len(truth["moments"]) == len({peak["ordinal"] for peak in found["peaks"].values()}) > 0
    assert truth["peak_allocated_bytes"] == found["peak_allocated_bytes"] \
        == truth_cases.bare_peak(of_case("perceptron"))
    for moment in truth["moments"]:
        assert sum(block["bytes"] for block in moment["blocks"]) == moment["allocated_bytes"]


def test_forward_keeps_what_the_formulas_say(perceptron):
    found, truth = perceptron
    forward = requested(truth_cases.moment_of(truth, found, "grad"))
    assert forward["weights"] == PARAMETERS * FLOAT
    assert forward["optimizer_states"] == 2 * PARAMETERS * FLOAT  # Adam's steps are on the CPU
    assert forward["inputs"] == BATCH * (PIXELS * FLOAT + LONG)
    assert forward["activations"] == KEPT_OF_HIDDEN + KEPT_OF_LOSS
    assert forward["gradients"] == forward["buffers"] == 0


def test_optimizer_step_has_all_gradients_and_no_activation(perceptron):
    found, truth = perceptron
    step = requested(truth_cases.moment_of(truth, found, "no_grad"))
    assert step["gradients"] == step["weights"] == PARAMETERS * FLOAT
    assert step["activations"] == 0
