# SPDX-License-Identifier: Apache-2.0
"""Compiled programs: module, line and category of each block at the peak, at the end of forward
and at the end of a step, beside the partitioner's list and Dynamo's stacks; compiled in the process,
and from Inductor's cache."""

import pytest

import compiled_agreement
import compiled_cases
import programs

# The cases that fall short today: (name of the case, run) -> why. Taken out when it is mended.
SHORT: dict = {}


def test_every_program_that_compiles_has_a_case():
    assert {case.program for case in compiled_cases.CASES} == set(programs.having("compiles"))


def marks(case: compiled_cases.Case, run: str) -> list:
    found = [] if case.quick else [pytest.mark.slow]
    if (case.name, run) in SHORT:
        found.append(pytest.mark.xfail(strict=True, reason=SHORT[case.name, run]))
    return found


@pytest.fixture(scope="module")
def outcomes(built, tmp_path_factory):
    """Both runs of each case, once."""
    known = {}

    def of(case: compiled_cases.Case, run: str) -> compiled_cases.Outcome:
        if case.name not in known:
            folder = tmp_path_factory.mktemp("compiled")
            known[case.name] = {one.run: one for one in compiled_cases.run_case(case, folder)}
        return known[case.name][run]

    return of


@pytest.mark.parametrize("case, run", [
    pytest.param(case, run, id=f"{case.name}, {run}", marks=marks(case, run))
    for case in compiled_cases.CASES for run in case.runs])
def test_blocks_have_the_truths_module_line_and_category(outcomes, case, run):
    outcome = outcomes(case, run)
    assert not outcome.truth["problems"]
    assert len(outcome.found) == 1 + len(compiled_cases.MOMENTS)
    peak = outcome.found[0]
    assert peak.bytes == outcome.truth["peak_allocated_bytes"], "another moment than PyTorch's peak"
    assert peak.line.bytes > 0.5 * peak.bytes, "the truth knows too little"
    assert peak.module.bytes > 0.5 * peak.bytes or case.program == "no_module"
    for one in outcome.found:
        worst = "\n".join(f"{size:,}  {what}" for what, size in one.mistakes.most_common(5))
        assert one.strange_blocks == 0
        assert one.module.percent >= compiled_agreement.MODULE, f"{one.name}: module\n{worst}"
        assert one.line.percent >= compiled_agreement.LINE, f"{one.name}: line\n{worst}"
        assert one.category.percent >= compiled_agreement.CATEGORY, f"{one.name}: category\n{worst}"
