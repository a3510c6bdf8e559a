# SPDX-License-Identifier: Apache-2.0
"""What a report says of a made-up fleet beside its truth: found, missed, said of others, by question."""

from typing import Any, NamedTuple

# Of regressions only what is planted: more memory. A share of leaks or failures that changed is said of runs that
# were drawn at random, and is a false alarm like any other.
WORSE, BETTER = "worse", "better"


class Score(NamedTuple):
    question: str
    planted: int
    found: int
    judged: int  # those that the truth says no of
    false_alarms: list[str]
    missed: list[str]

    @property
    def perfect(self) -> bool:
        return not self.false_alarms and not self.missed

    def line(self) -> str:
        recall = f"{self.found / self.planted:.1%}" if self.planted else "–"
        return f"| {self.question} | {self.planted} | {self.found} | {recall} | {len(self.false_alarms)} of {self.judged} |"


def _score(question: str, said: set[str], yes: set[str], no: set[str]) -> Score:
    return Score(question, len(yes), len(said & yes), len(no), sorted(said & no), sorted(yes - said))


def _rows(report: dict[str, Any], view: str) -> list[dict[str, Any]]:
    (question,) = [one for one in report["questions"] if one["view"] == view]
    return question["rows"]


def scores(report: dict[str, Any], truth: dict[str, Any]) -> list[Score]:
    """`report`: of memtrace fleet report --json, with the two periods; `truth`: of made_fleet.py."""
    runs = truth["runs"]

    def of(name: str, view: str, question: str) -> Score:
        said = {row["run"] for row in _rows(report, view)}
        assert said <= set(runs), f"{view} names runs that are not there"
        return _score(question, said, {run for run, one in runs.items() if one[name] is True},
                      {run for run, one in runs.items() if one[name] is False})

    changed = _rows(report, "regressions")
    unchanged = set(truth["unchanged"])

    def projects(verdict: str) -> set[str]:
        return {row["project"] for row in changed if row["verdict"] == verdict}

    return [
        of("leaks", "leaking_runs", "leaks"), of("ran_out", "failed_runs", "ran out of memory"),
        of("wastes", "wasted_gpus", "wastes more than half of its GPU"),
        of("fits_smaller", "smaller_gpus", "would fit a smaller GPU"),
        _score("needs more since the release (projects)", projects(WORSE), set(truth["regressed"]),
               unchanged | set(truth["improved"])),
        _score("needs less since the release (projects)", projects(BETTER), set(truth["improved"]),
               unchanged | set(truth["regressed"]))]


def remedies(report: dict[str, Any]) -> tuple[int, int]:
    """Runs that ran out of memory for which something is named that would have saved them or leaks; all of them."""
    rows = _rows(report, "failed_runs")
    return sum(bool(row["saved_by"] or row["leaks"]) for row in rows), len(rows)
