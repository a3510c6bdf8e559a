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
              if item.module is request.module and "truth" in getattr(item, "callspec", item).params]
    pool = ThreadPoolExecutor(os.cpu_count())
    yield {truth.name: pool.submit(judge_run, Run(truth, truth.steps)) for truth in wanted}
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("truth", CORPUS, ids=lambda truth: truth.name)
def test_what_is_said_is_right_but_for_what_is_known_to_be_wrong(judgements, truth):
    found = judgements[truth.name].result()
    assert not found.too_short
    wrong, known = set(found.wrong()) - set(truth.by_chance), set(truth.known_wrong)
    assert not wrong - known, f"wrong: {', '.join(sorted(wrong - known))}. Said: {found.said}. True: {truth.why}"
    assert not known - wrong, (f"right now: {', '.join(sorted(known - wrong))}. Take it out of {truth.name}'s known_wrong "
                               "in tests/corpus/manifest.toml, and make RESULTS.md anew")
