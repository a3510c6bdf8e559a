# SPDX-License-Identifier: Apache-2.0
"""The manifest of the corpus by itself: each truth is about its program as it stands, and the sets are what they should be."""

import ast
import re
from dataclasses import replace

import pytest

import judge
from corpus import CORPUS, FILLS, FOLDER, GROWS, MARKS, SETS, STAYS, Truth

PUBLISHED = ("ninth", "tenth", "eleventh", "twelfth")
CUT_DOWN = ("short", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
LENGTHS = ((12, 20), (21, 40), (41, 60))
USUAL_STEPS = 100


def default_steps(truth: Truth) -> list[int]:
    return [keyword.value.value for node in ast.walk(ast.parse(truth.path.read_text()))
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"
            and node.args[0].value == "--steps" for keyword in node.keywords if keyword.arg == "default"]


def short_run_faults(truth: Truth):
    """Of the sets of short runs: one length, a leak with its lines and its keeper, no mark of a leak on anything else."""
    grows, marks = truth.memory == GROWS, set(truth.marks)
    yield truth.lengths == (truth.min_steps,) == (truth.steps,) == tuple(default_steps(truth)), "its length is not the program's"
    yield judge.must_speak(truth) == grows, "kept_by without a leak, or a leak without kept_by"
    yield not grows or (marks >= {"allocates"} and truth.kept_by), "a leak without its line or its keeper"
    yield grows or not marks & {"allocates", "keeps"}, "marks of a leak, but none"
    yield ("fills" in marks) == (truth.memory == FILLS), "fills, and is not marked, or the other way round"
    yield truth.set == "short" or "step" in marks, "no line that runs once a step"


def faults_of(truth: Truth) -> list[str]:
    if not truth.path.exists():
        return ["no program"]
    # Without a marked line there is nothing to compare with, and any line would do.
    marked = "fills" if truth.memory == FILLS else "allocates"
    checks = [
        (truth.set in SETS, "unknown set"),
        (truth.memory in (GROWS, FILLS, STAYS), "unknown memory"),
        (truth.marks == tuple(mark for mark in MARKS if truth.lines(mark)), "not the marks that the program has"),
        (truth.steps >= truth.min_steps, "too short for its truth"),
        (truth.subject == ("host",) or not judge.must_speak(truth) or marked in truth.marks, "its lines are not marked"),
        (bool(truth.why_steps) == (truth.steps > USUAL_STEPS), "longer than usual without a reason, or a reason for nothing"),
        (truth.source.startswith("https://") == (truth.set in PUBLISHED), "published without a source, or the other way round"),
        (all(aspect in judge.ASPECTS and why for why_not in (truth.known_wrong, truth.by_chance)
             for aspect, why in why_not.items()), "known_wrong without a reason"),
    ]
    if truth.set in (*CUT_DOWN, *PUBLISHED):
        checks += short_run_faults(truth)
    for pattern in (truth.kept_by, truth.remedy, truth.phase, truth.category):
        re.compile(pattern or "")
    return [fault for right, fault in checks if not right]


def faults_of_sets() -> list[str]:
    """Half of what is kept leaks, and a third of each published set is of each length: shares, not all or nothing."""
    found = []
    for name, sets in {"one to eight": CUT_DOWN, **{name: (name,) for name in PUBLISHED}}.items():
        truths = [truth for truth in CORPUS if truth.set in sets]
        if len(truths) != 40 or sum(truth.memory == GROWS for truth in truths) != 20:
            found.append(f"{name}: not forty, or not half of them leaks")
        for fewest, most in LENGTHS:
            of_this = sum(fewest <= truth.steps <= most for truth in truths)
            if 3 * of_this != pytest.approx(len(truths), rel=0.15):
                found.append(f"{name}: {of_this} of {fewest} to {most} steps")
    programs, there = {truth.program for truth in CORPUS}, {path.stem for path in (FOLDER / "programs").glob("*.py")}
    return found + sorted(f"{name}: no truth" for name in there - programs)


def test_each_truth_is_about_its_program_as_it_stands():
    found = [f"{truth.name}: {fault}" for truth in CORPUS for fault in faults_of(truth)]
    assert CORPUS and found + faults_of_sets() == []


LEAK = next(truth for truth in CORPUS if truth.name == "ninth_depth_epoch")


@pytest.mark.parametrize("change, fault", [
    ({"program": "gone"}, "no program"),
    ({"marks": ("allocates",)}, "not the marks that the program has"),
    ({"steps": 53}, "its length is not the program's"),
    ({"kept_by": None}, "a leak without its line or its keeper"),
    ({"source": ""}, "published without a source, or the other way round"),
    ({"known_wrong": {"rate": ""}}, "known_wrong without a reason"),
    ({"memory": STAYS, "kept_by": None}, "marks of a leak, but none"),
])
def test_a_wrong_truth_is_named(change, fault):
    assert faults_of(LEAK) == []
    assert fault in faults_of(replace(LEAK, **change))
