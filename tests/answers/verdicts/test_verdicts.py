# SPDX-License-Identifier: Apache-2.0
"""What the report says of each program of the corpus, beside the truth that was written first."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from corpus import CORPUS
from judged import Run, judge_run


@pytest.fixture(scope="module")
def judgements(built, request):
    """What comes of each program that is asked for, by its name: in one pool, as nearly all the time is that of
    processes which record and report."""
    wanted = [item.callspec.params["truth"] for item in request.session.items
              if item.module is request.module and hasattr(item, "callspec")]
    pool = ThreadPoolExecutor(os.cpu_count())
    yield {truth.name: pool.submit(judge_run, Run(truth, truth.steps)) for truth in wanted}
    pool.shutdown(cancel_futures=True)


# From so many on every answer has to be one (docs/verdicts.md).
STEPS_THAT_TELL = 100


@pytest.mark.one_in(4)
@pytest.mark.parametrize("truth", CORPUS, ids=lambda truth: truth.name)
def test_what_is_said_is_right_but_for_what_is_known_to_be_wrong(judgements, truth):
    found = judgements[truth.name].result()
    assert not found.too_short
    if found.unknown and truth.steps < STEPS_THAT_TELL:
        return  # nothing was said: test_little_is_left_open counts these
    wrong, known = set(found.wrong()) - set(truth.by_chance), set(truth.known_wrong)
    assert not wrong - known, f"wrong: {', '.join(sorted(wrong - known))}. Said: {found.said}. True: {truth.why}"
    assert not known - wrong, (f"right now: {', '.join(sorted(known - wrong))}. Take it out of {truth.name}'s known_wrong "
                               "in tests/corpus/manifest.toml, and make RESULTS.md anew")


def test_little_is_left_open(judgements):
    """"Not settled" is honest where a run is short, and no answer: at most of a quarter of the short runs."""
    if len(judgements) < len(CORPUS):
        pytest.skip("looks at all programs, and some were not asked for")
    short = {truth.name for truth in CORPUS if truth.steps < STEPS_THAT_TELL and "device" in truth.subject}
    left_open = {name for name in short if judgements[name].result().unknown}
    assert len(short) > 150
    assert len(left_open) <= len(short) / 4, sorted(left_open)


@pytest.mark.one_in(20)
@pytest.mark.parametrize("truth", [one for one in CORPUS if one.set == "base" and one.subject == ("device",)],
                         ids=lambda truth: truth.name)
def test_the_allocator_of_cuda_s_own_pools_changes_no_answer(built, truth):
    """backend:cudaMallocAsync, as of ComfyUI: PyTorch's calls of CUDA are all that is seen of it."""
    found = judge_run(Run(truth, truth.steps, settings="backend:cudaMallocAsync"))
    usual = judge_run(Run(truth, truth.steps))
    # A call of empty_cache() frees no segments there: nothing is seen of it.
    unseen = {"fix"} if truth.habit else set()
    assert set(found.wrong()) - unseen == set(usual.wrong()) - unseen, f"Said: {found.said}. True: {truth.why}"
