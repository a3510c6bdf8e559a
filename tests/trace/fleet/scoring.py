# SPDX-License-Identifier: Apache-2.0
"""A report on a made-up fleet beside its truth: found, missed, said of others, by question."""

from typing import Any, NamedTuple

# docs/growth.md: a series of fewer steps gets no verdict, whatever it does.
STEPS_OF_A_VERDICT = 10
# Only the planted regressions count: more memory. A share of leaks or failures that changed is said of runs that
# were drawn at random, and is a false alarm like any other.
WORSE, BETTER = "worse", "better"
PLANTED_METRICS = ("needed_bytes", "peak_allocated_bytes", "peak_reserved_bytes")
SHORT_LEAKS = f"leaks, over in fewer than {STEPS_OF_A_VERDICT} steps: no verdict is promised"


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

    leaks = of("leaks", "leaking_runs", "leaks")
    leaking = {run for run, one in runs.items() if one["leaks"]}
    short = {run for run in leaking if runs[run]["steps"] < STEPS_OF_A_VERDICT}
    said_to_leak = leaking - set(leaks.missed)
    changed = _rows(report, "regressions")
    unchanged = set(truth["unchanged"])

    def projects(verdict: str, question: str, planted: set[str], others: set[str]) -> Score:
        """Found: by a metric of what is planted. A false alarm: by any."""
        said = {row["project"] for row in changed if row["verdict"] == verdict}
        rightly = {row["project"] for row in changed if row["verdict"] == verdict and row["metric"] in PLANTED_METRICS}
        return _score(question, rightly & planted | said & others, planted, others)

    regressed, improved = set(truth["regressed"]), set(truth["improved"])
    return [
        _score(leaks.question, said_to_leak | set(leaks.false_alarms), leaking - short, set(runs) - leaking),
        _score(SHORT_LEAKS, said_to_leak, short, set()), of("ran_out", "failed_runs", "ran out of memory"),
        of("wastes", "wasted_gpus", "wastes more than half of its GPU"),
        of("fits_smaller", "smaller_gpus", "would fit a smaller GPU"),
        projects(WORSE, "needs more since the release (projects)", regressed, unchanged | improved),
        projects(BETTER, "needs less since the release (projects)", improved, unchanged | regressed)]


def remedies(report: dict[str, Any]) -> tuple[int, int]:
    """Runs that ran out of memory for which something is named that would have saved them or leaks; all of them."""
    rows = _rows(report, "failed_runs")
    return sum(bool(row["saved_by"] or row["leaks"]) for row in rows), len(rows)
