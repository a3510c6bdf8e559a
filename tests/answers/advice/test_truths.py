# SPDX-License-Identifier: Apache-2.0
"""The truths' claims, beside what was measured: no run, no memtrace."""

import pytest

import programs
from advice_corpus import CORPUS, FAMILIES, HEALTHY, HELD_OUT, REMEDIES
from known_remedy import MIB, RESERVED, measured

MEASURED = {**measured(), **measured("held_out.json"), **measured("families.json")}
SICK = [truth for truth in [*REMEDIES, *HELD_OUT] if truth.best]


def group_of(change: str) -> str:
    return change.partition("=")[0].removesuffix("_half").removesuffix("_quarter")


def savings(truth) -> dict[str, int]:
    """Bytes of peak reserved by group of changes: the sizes of one batch are one group."""
    found = MEASURED[truth.name]
    by_group = {}
    for change, said in found.items():
        if change:
            group = group_of(change)
            saved = found[""][RESERVED] - said[RESERVED]
            by_group[group] = max(by_group.get(group, saved), saved)
    return by_group


def named(truths):
    return [pytest.param(truth, id=truth.name) for truth in truths]


def test_every_program_with_a_known_remedy_has_a_truth():
    assert {truth.program for truth in [*CORPUS, *HELD_OUT, *FAMILIES]} == set(programs.having("advice"))


@pytest.mark.parametrize("truth", named([*CORPUS, *HELD_OUT, *FAMILIES]))
def test_everything_is_measured_and_runs(truth):
    found = MEASURED[truth.name]
    assert set(truth.changes()) == set(found)
    assert all(said[RESERVED] > 0 for said in found.values())


@pytest.mark.parametrize("truth", named(SICK))
def test_the_remedy_works(truth):
    before, after = MEASURED[truth.name][""], MEASURED[truth.name][truth.change]
    if truth.mends:
        assert before["out_of_memory"] and not after["out_of_memory"]
    else:
        assert after[truth.saves] < before[truth.saves]
        if truth.saves == RESERVED:
            assert before[RESERVED] - after[RESERVED] >= max(2 * MIB, before[RESERVED] // 100)


@pytest.mark.parametrize("truth", named(truth for truth in SICK if truth.place and not truth.mends))
def test_no_two_measured_remedies_save_more(truth):
    group = group_of(truth.change)
    saved = savings(truth)
    assert sum(other > saved[group] for other in saved.values()) < truth.place


@pytest.mark.parametrize("truth", named(HEALTHY))
def test_healthy_programs_have_room(truth):
    assert not MEASURED[truth.name][""]["out_of_memory"]
    assert MEASURED[truth.name][""]["retries"] == 0
