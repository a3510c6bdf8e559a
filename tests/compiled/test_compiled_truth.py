# SPDX-License-Identifier: Apache-2.0
"""Of compiled programs: module, line and category of each block at the peak, at the end of forward
and at the end of a step, beside the partitioner's list and Dynamo's stacks; compiled in the process,
and from Inductor's cache."""

import pytest

import compiled_agreement
import compiled_cases

# What falls short today: name of the case -> which run, and why. Taken out when it is mended.
SHORT = {
    ("ResNet", "compiled"): "a function outside of any module is shown as the module before it in its kernel",
    ("ResNet", "cached"): "a function outside of any module is shown as the module before it in its kernel",
    ("BERT, Trainer", "compiled"): "a graph that comes from the cache in the same process: as the cached run",
    ("BERT, Trainer", "cached"): "of a kernel of dropout, sum and norm, what the norm saves is taken for the dropout's",
    ("mT5, Trainer", "cached"): "of a kernel of dropout and sum, the sum is taken for the dropout's",
    ("LoRA, peft", "cached"): "of three dropouts on one line, in one kernel, the module is taken for another's",
    ("DDP", "cached"): "of the graphs that DDP splits, the matrix products are taken for the kernel before them",
    ("reduce-overhead", "cached"): "the backward graph has no lines when it is loaded from the cache",
    ("checkpointing", "compiled"): "what graphsafe_run_with_rng_state calls has no line and no module",
    ("checkpointing", "cached"): "what graphsafe_run_with_rng_state calls has no line and no module",
    ("autocast", "cached"): "of a kernel with several results, all are taken for the last",
    ("two models", "compiled"): "the only Critic is called Critic #2, and its states are the other model's (also eager)",
    ("two models", "cached"): "the only Critic is called Critic #2, and its states are the other model's (also eager)",
}


def marks(case: compiled_cases.Case, run: str) -> list:
    found = [] if case.quick else [pytest.mark.slow]
    if (case.name, run) in SHORT:
        found.append(pytest.mark.xfail(strict=True, reason=SHORT[case.name, run]))
    return found


@pytest.fixture(scope="module")
def outcomes(built, tmp_path_factory):
    """Of each case both runs, once."""
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
