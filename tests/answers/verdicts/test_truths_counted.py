# SPDX-License-Identifier: Apache-2.0
"""The truths of short runs, from the second set on, beside what PyTorch's own allocator says; memtrace gives no verdict here."""

import allocator_says
import pytest
from corpus import CORPUS, GROWS

# Of one that does not accumulate, the second half of so many times its own steps needs no more than the first.
TIMES = 4
# Of one that accumulates in the fourth or fifth set, a run of so many times its own steps does so at the same rate.
LONGER = 3


def steps_of(truth) -> int:
    return truth.steps if truth.memory == GROWS else TIMES * truth.steps


def marked(truth) -> set[int]:
    """With 0, memory without a line, if a call of backward() is marked: autograd's thread has no Python stack."""
    text, lines = truth.path.read_text().splitlines(), truth.lines("allocates")
    return lines | {0} if any(".backward(" in text[line - 1] for line in lines) else lines


def check_growth(truth, said):
    growth = said.growth()
    assert growth > 0
    assert said.growth_of(marked(truth)) >= 0.95 * growth, "it comes from other lines"
    if truth.bytes_per_step:
        assert said.rate() == pytest.approx(truth.bytes_per_step, rel=truth.tolerance)


def check_bound(truth, said):
    half = len(said.allocated) // 2
    most = max(said.allocated[:half])
    assert max(said.allocated[half:]) <= most


def check(truths, folder, steps=steps_of):
    assert truths
    said = allocator_says.ask({truth: steps(truth) for truth in truths}, folder)
    wrong = []
    for truth in truths:
        try:
            (check_growth if truth.memory == GROWS else check_bound)(truth, said[truth.program])
        except AssertionError as error:
            wrong.append(f"{truth.program}: {error}")
    assert not wrong, "\n".join(wrong)


def of_set(name):
    return [truth for truth in CORPUS if truth.set == name]


@pytest.mark.slow
def test_truths_of_the_second_set_are_what_the_allocator_says(tmp_path):
    check(of_set("second"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
                                  "twelfth"])
def test_all_truths_are_what_the_allocator_says(name, tmp_path):
    check(of_set(name), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
                                  "eleventh", "twelfth"])
def test_what_accumulates_goes_on(name, tmp_path):
    leaks = [truth for truth in of_set(name) if truth.memory == GROWS]
    check(leaks, tmp_path, lambda truth: LONGER * truth.steps)
