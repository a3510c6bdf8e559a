# SPDX-License-Identifier: Apache-2.0
"""memtrace's categories beside the truth, block by block: at the peak of every program at least 99 % of
the bytes have a category, and at least 98 % have the right one."""

import pytest

import agreement
import truth_cases


def marks_of(case: truth_cases.Case) -> list:
    marks = [] if case.quick else [pytest.mark.slow]
    if case.not_right_yet:
        marks.append(pytest.mark.xfail(reason=case.not_right_yet, raises=AssertionError, strict=True))
    return marks


CASES = [pytest.param(case, id=case.name.replace(" ", "_"),
                      marks=marks_of(case)) for case in truth_cases.CASES]


@pytest.mark.parametrize("case", CASES)
def test_categories_agree_with_the_truth(case, built, tmp_path):
    outcomes = truth_cases.run_case(case, tmp_path, names=("all",))
    assert len(outcomes) == case.ranks
    for outcome in outcomes:
        peak = outcome.moments["all"]
        assert peak.moment_bytes == outcome.truth["peak_allocated_bytes"]
        assert len(peak.truth) > 3 or case.name == "generation", "hardly anything was told apart"
        assert peak.missing_blocks == peak.foreign_blocks == peak.differing_sizes == 0
        shown = "\n".join(f"{size:,} {what}" for what, size in peak.disagreements.most_common(8))
        assert peak.known >= agreement.KNOWN, f"{peak.known:.2f} % known\n{shown}"
        assert peak.agreeing >= agreement.AGREEING, f"{peak.agreeing:.2f} % agree\n{shown}"


def block(address, role):
    return {"address": address, "bytes": 1024, "role": role, "seen": "now", "what": "", "site": ""}


def their(address, category, size=1024):
    return {"address": hex(address), "bytes": size, "category": category, "evidence": "annotated",
            "rule": "", "phase": "forward"}


def judged(ours, theirs):
    return agreement.judge({"blocks": ours}, [{"blocks": theirs}])


@pytest.mark.parametrize("category", ["temporaries", "workspace", "outputs", "collected", "other"])
def test_what_the_truth_cannot_tell_apart_agrees(category):
    assert judged([block(4096, "rest")], [their(4096, category)]).agreeing == 100


@pytest.mark.parametrize(("role", "category"), [
    ("rest", "activations"), ("rest", "unknown"), ("activations", "temporaries"),
    ("weights", "unknown"), ("weights", "buffers"), ("gradients", "optimizer_states"),
    ("kv_cache", "outputs"), ("rest", "kv_cache"),
])
def test_anything_else_disagrees(role, category):
    found = judged([block(4096, role), block(8192, "inputs")], [their(4096, category), their(8192, "inputs")])
    assert found.agreeing == 50
    assert found.known == (50 if category == "unknown" else 100)
    assert sum(found.disagreements.values()) == 1024


def test_a_block_that_the_report_lacks_is_neither_known_nor_right():
    found = judged([block(4096, "rest"), block(8192, "weights")], [their(8192, "weights", 512), their(512, "other")])
    assert found.known == found.agreeing == 50
    assert (found.missing_blocks, found.foreign_blocks, found.differing_sizes) == (1, 1, 1)
