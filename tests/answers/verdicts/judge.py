# SPDX-License-Identifier: Apache-2.0
"""What a report says of a program, beside what is true of it."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from corpus import FILLS, GROWS, LEAK_SHAPES, STAYS, Truth

# Verdicts on parts of a device: where one of them finds a leak, the device has one.
PARTS_OF_DEVICE = ("device", "site", "category", "module")
NOTHING_SAID = {"bytes_per_step": 0, "culprits": []}
# What is asked, as the manifest and the tables name it.
ASPECTS = {"verdict": "right", "line": "culprit_first", "path": "path_right", "rate": "rate_right",
           "phase": "phase_right", "category": "category_right", "fix": "remedy_right"}


@dataclass
class Judged:
    """None: not asked, or nothing to compare with."""

    right: bool = False
    culprit_first: bool | None = None
    path_right: bool | None = None
    phase_right: bool | None = None
    category_right: bool | None = None
    remedy_right: bool | None = None
    rate_right: bool | None = None
    too_short: bool = False  # for the truth's least number of steps; then it is not counted
    unknown: bool = False  # the report says of the subject that nothing can be said yet
    false_alarms: list[str] = field(default_factory=list)
    said: str = ""  # in a few words

    def wrong(self) -> list[str]:
        return [name for name, attribute in ASPECTS.items() if getattr(self, attribute) is False]


def kind(verdict: dict) -> str:
    return verdict["subject"].split(":")[0]


def leaks(verdict: dict) -> bool:
    return verdict["shape"] in LEAK_SHAPES and verdict["answer"] != "bounded"


def is_about(verdict: dict, subjects: tuple[str, ...]) -> bool:
    for subject in subjects:
        if verdict["subject"] == subject or verdict["subject"].startswith(f"{subject}:"):
            return True
        if subject == "device" and kind(verdict) in PARTS_OF_DEVICE:
            return True
    return False


def user_line(frames: list[dict]) -> tuple[str, int] | None:
    """The innermost frame in the user's own code."""
    for frame in frames:
        if frame["user"]:
            return Path(frame["file"]).name, frame["line"]
    return None


def names_line(culprit: dict, truth: Truth, marker: str) -> bool:
    """Whether its own line, or the forward line that it was made for, is one of the marked ones."""
    wanted = {(truth.path.name, line) for line in truth.lines(marker)}
    return any(user_line(culprit.get(key) or []) in wanted for key in ("frames", "forward"))


def retained_text(retainer: dict) -> str:
    return "; ".join(str(retainer.get(key) or "") for key in ("path", "container", "owner", "holder"))


def in_words(verdict: dict) -> str:
    said = f"{verdict['subject']} {verdict['shape']}"
    if verdict.get("negligible"):
        said += " (negligible)"
    culprits = verdict.get("culprits") or []
    if culprits:
        line = user_line(culprits[0]["frames"])
        said += f", {line[0]}:{line[1]}" if line else ", no line of the user's"
        kept = culprits[0].get("retained_by") or []
        said += f", kept by {kept[0]['path']} ({kept[0].get('owner', '')})" if kept else ""
    return said


def excused(truth: Truth) -> tuple[str, ...]:
    """The subjects that may say that something grows."""
    if truth.memory == FILLS:
        return (*(one for one in truth.subject if one not in PARTS_OF_DEVICE), "phase")
    return truth.subject if truth.subject != ("device",) else ()


def judge_quiet(report: dict, truth: Truth) -> Judged:
    """A program that does not leak: whatever is said to leak is a false alarm."""
    wrong = [one for one in report["verdicts"] if leaks(one) and not is_about(one, excused(truth))]
    devices = [one for one in report["verdicts"] if kind(one) == "device"]
    found = Judged(right=not wrong and bool(devices), false_alarms=[in_words(one) for one in wrong])
    if truth.shapes:
        found.right = found.right and any(one["shape"] in truth.shapes for one in devices
                                          if is_about(one, truth.subject))
    found.said = "; ".join(found.false_alarms or [in_words(one) for one in devices])
    if truth.habit:
        found.remedy_right = any(one["id"] == truth.habit for one in report["advice"])
    return found


def explain(found: Judged, verdict: dict, truth: Truth, marker: str) -> None:
    """Whether the line, what keeps it, its phase and category, the remedy and the rate are right."""
    first = (verdict.get("culprits") or [{}])[0]
    if truth.lines(marker):
        found.culprit_first = bool(first) and names_line(first, truth, marker)
    if truth.kept_by:
        kept = first.get("retained_by") or []
        found.path_right = bool(kept) and bool(re.search(truth.kept_by, retained_text(kept[0])))
    if truth.phase:
        found.phase_right = bool(re.fullmatch(truth.phase, first.get("phase") or ""))
    if truth.category:
        found.category_right = "category" in first and bool(re.search(truth.category, first["category"]))
    if truth.remedy:
        fix = first.get("fix") or verdict.get("fix") or {}
        text = " ".join(str(fix.get(key) or "") for key in ("id", "change"))
        found.remedy_right = bool(re.search(truth.remedy, text, re.IGNORECASE))
    if truth.bytes_per_step:
        off = abs(verdict["bytes_per_step"] - truth.bytes_per_step)
        found.rate_right = off <= truth.tolerance * truth.bytes_per_step


def judge_leak(report: dict, truth: Truth) -> Judged:
    # Within an evaluation, or a phase that the program named, it would be a false alarm, too (judge_quiet).
    subjects = (*truth.subject, "phase") if "device" in truth.subject else truth.subject
    about = [one for one in report["verdicts"] if is_about(one, subjects)]
    fitting = [one for one in about if one["shape"] in (truth.shapes or LEAK_SHAPES)]
    found = Judged(right=bool(fitting))
    found.said = "; ".join(in_words(one) for one in fitting[:1] or about[:3]) or "nothing"
    if truth.memory == FILLS:
        wrong = [one for one in report["verdicts"] if leaks(one) and not is_about(one, excused(truth))]
        found.false_alarms = [in_words(one) for one in wrong]
        found.right = found.right and not wrong
    with_culprits = [one for one in fitting if one.get("culprits")]
    spoken = (with_culprits or fitting or [NOTHING_SAID])[0]
    explain(found, spoken, truth, "fills" if truth.memory == FILLS else "allocates")
    return found


def nothing_known(report: dict, truth: Truth) -> bool:
    names = tuple(one.split(":")[0] for one in truth.subject)
    about = [one["shape"] for one in report["verdicts"] if kind(one) in names]
    return bool(about) and all(shape == "unknown" for shape in about)


def must_speak(truth: Truth) -> bool:
    """Whether something has to be found, rather than nothing said."""
    return truth.memory == GROWS or (truth.memory == FILLS and truth.kept_by is not None)


def judge(report: dict, truth: Truth, steps: int) -> Judged:
    assert truth.memory in (GROWS, FILLS, STAYS), truth.name
    found = (judge_leak if must_speak(truth) else judge_quiet)(report, truth)
    found.too_short = steps < truth.min_steps
    found.unknown = nothing_known(report, truth)
    return found
