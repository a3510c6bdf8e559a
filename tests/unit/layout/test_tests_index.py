# SPDX-License-Identifier: Apache-2.0
"""tests/README.md lists the folders of tests: each of a group, once, and none that is gone."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
GROUPS = ("trace", "program", "answers", "simulator")  # of folders; every other folder of tests is one itself
INSIDE_UNIT = ("unit/fuzz", "unit/layout", "unit/compile_fail")  # which are no unit tests
COLUMNS = 5


def rows_of(index: str) -> list[list[str]]:
    """The cells of the rows that list a folder, which is a link in the second one."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in index.splitlines() if line.startswith("|")]
    return [row for row in rows if len(row) > 1 and re.fullmatch(r"\[\w+\]\([\w/]+/\)", row[1])]


def faults_of(index: str, there: set[str]) -> list[str]:
    rows = rows_of(index)
    listed = [re.search(r"\((.*)/\)", row[1])[1] for row in rows]
    found = [f"{name} is not in the index" for name in sorted(there - set(listed))]
    found += [f"{name} is listed, but gone" for name in sorted(set(listed) - there)]
    found += [f"{name} is listed twice" for name in sorted(set(listed)) if listed.count(name) > 1]
    for name, row in zip(listed, rows, strict=True):
        if len(row) != COLUMNS or not all(row) or f"[{name.rpartition('/')[2]}]" not in row[1]:
            found.append(f"the row of {name} is not whole")
    return found


def folders_of(tests: Path) -> set[str]:
    names = {path.name for path in tests.iterdir() if path.is_dir() and path.name[0] not in "._"}
    inside = {f"{group}/{path.name}" for group in GROUPS for path in (tests / group).iterdir()
              if path.is_dir() and path.name[0] not in "._"}
    return (names - set(GROUPS)) | inside | set(INSIDE_UNIT)


def test_every_folder_is_in_the_index():
    there = folders_of(TESTS)
    assert len(there) > 20
    assert faults_of((TESTS / "README.md").read_text(), there) == []


ROW = "| a fact | [unit](unit/) | it holds | all | – |\n"


@pytest.mark.parametrize(("index", "there", "fault"), [
    (ROW, {"unit", "fuzz"}, "fuzz is not in the index"),
    (ROW, set(), "unit is listed, but gone"),
    (ROW + ROW, {"unit"}, "unit is listed twice"),
    ("| a fact | [unit](unit/) | it holds | | – |\n", {"unit"}, "the row of unit is not whole"),
    ("| a fact | [fuzz](unit/) | it holds | all | – |\n", {"unit"}, "the row of unit is not whole"),
    ("unit is somewhere in the text\n", {"unit"}, "unit is not in the index"),
])
def test_a_wrong_index_is_refused(index, there, fault):
    assert faults_of(index, there) == [fault]


def test_a_right_index_has_no_fault():
    assert faults_of(ROW, {"unit"}) == []
