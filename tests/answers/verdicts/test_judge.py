# SPDX-License-Identifier: Apache-2.0
"""The comparison itself: on reports written by hand, right ones and wrong ones."""

from dataclasses import replace

import pytest

import judge
from corpus import FILLS, GROWS, STAYS, Truth


def truth_of(program, memory, **more):
    return Truth(program, "base", memory, 100, "for this test", program=program, min_steps=30, **more)


TRUTH = truth_of("leak_losses_list", GROWS, kept_by=r"losses.*local of fit",
              remedy="float", bytes_per_step=512)
LINE = min(TRUTH.lines("allocates"))


def verdict(subject="device:0", shape="accumulating", line=LINE, **more):
    culprit = {
        "frames": [{"file": "torch/_tensor.py", "line": 5, "function": "f", "user": False},
                   {"file": "programs/leak_losses_list.py", "line": line, "function": "fit", "user": True}],
        "retained_by": [{"path": "losses[…]", "container": "list", "owner": "local of fit"}],
        "fix": {"id": "detach_loss", "change": "losses.append(float(loss))"},
    }
    return {"subject": subject, "shape": shape, "answer": "accumulates", "bytes_per_step": 512, "culprits": [culprit], **more}


def judged(*verdicts, truth=TRUTH, steps=100):
    return judge.judge({"verdicts": list(verdicts), "advice": []}, truth, steps)


def test_leak_that_is_found_and_explained():
    found = judged(verdict())
    assert found.right and found.culprit_first and found.path_right
    assert found.rate_right and found.remedy_right and not found.too_short


def test_leak_that_is_missed_is_wrong_in_all():
    found = judged(verdict(shape="steady"))
    assert not found.right
    assert [found.culprit_first, found.path_right, found.rate_right, found.remedy_right] == [False] * 4


def test_a_site_stands_for_its_device_but_the_host_does_not():
    assert judged(verdict(shape="steady"), verdict(subject="site:4")).right
    assert not judged(verdict(shape="steady"), verdict(subject="host")).right


def test_a_leak_within_a_phase_is_one_of_its_device():
    quiet, inside = verdict(shape="steady"), verdict(subject="phase:evaluation")
    assert judged(quiet, inside).right and judged(quiet, inside).culprit_first
    assert not judged(quiet, inside, truth=replace(TRUTH, subject=("host",))).right
    assert not judged(quiet, inside, truth=truth_of("look_total_loss", STAYS)).right


@pytest.mark.parametrize("wrong, attribute", [
    (verdict(line=LINE + 1), "culprit_first"), (verdict(bytes_per_step=600), "rate_right")])
def test_what_is_wrong_with_a_leak_that_is_found(wrong, attribute):
    found = judged(wrong)
    assert found.right and getattr(found, attribute) is False


def test_phase_and_category_are_the_first_culprits():
    truth = replace(TRUTH, phase="forward", category="^(?!gradients)")
    found = judged(verdict(), truth=truth)
    assert found.phase_right is False and found.category_right is False  # it names neither
    right = verdict()
    right["culprits"][0].update(phase="forward", category="other")
    right["culprits"].append({**right["culprits"][0], "phase": "backward", "category": "gradients"})
    found = judged(right, truth=truth)
    assert found.phase_right and found.category_right
    right["culprits"].reverse()
    found = judged(right, truth=truth)
    assert found.phase_right is False and found.category_right is False
    assert judged(right).phase_right is None


def test_only_the_first_path_counts():
    wrong = verdict()
    wrong["culprits"][0]["retained_by"].insert(0, {"path": "model", "owner": "local of main"})
    assert judged(wrong).path_right is False


def test_the_line_may_be_the_forward_line():
    made_in_backward = verdict(line=1)
    frames = made_in_backward["culprits"][0]["frames"]
    made_in_backward["culprits"][0]["forward"] = [{**frames[1], "line": LINE}]
    assert judged(made_in_backward).culprit_first


@pytest.mark.parametrize("subject", ["device:0", "site:3", "reserved:0", "host", "category:other"])
def test_any_leak_of_a_program_that_has_none_is_a_false_alarm(subject):
    truth = truth_of("look_total_loss", STAYS)
    assert judged(verdict(shape="warmup_plateau"), truth=truth).right
    found = judged(verdict(shape="steady"), verdict(subject=subject, negligible=True), truth=truth)
    assert not found.right and len(found.false_alarms) == 1


def test_a_report_without_a_verdict_is_never_right():
    assert not judged(truth=truth_of("look_total_loss", STAYS)).right
    assert not judged().right


def test_what_fills_and_empties_must_be_found_where_it_does():
    truth = truth_of("leak_eval_logits", FILLS, subject=("phase:evaluation",), kept_by="losses")
    quiet, inside = verdict(shape="sawtooth"), verdict(subject="phase:evaluation")
    assert judged(quiet, inside, truth=truth).right
    assert not judged(quiet, truth=truth).right
    assert not judged(verdict(), inside, truth=truth).right


def test_too_short_a_run_is_not_counted():
    found = judged(verdict(shape="unknown"), steps=29)
    assert found.too_short and found.unknown
    assert not judged(verdict(shape="unknown"), verdict("device:1", "steady")).unknown


def test_what_is_wrong_has_names():
    assert judged(verdict(line=LINE + 1)).wrong() == ["line"]
    assert judged(verdict(shape="steady")).wrong() == ["verdict", "line", "path", "rate", "fix"]
    assert judged(verdict()).wrong() == []
