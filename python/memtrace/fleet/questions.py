# SPDX-License-Identifier: Apache-2.0
"""The questions of a report: which view answers each, in what order, and which columns people want first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterable, List, NamedTuple, Set, Tuple

from memtrace.fleet import schema

VIEWS = Path(__file__).resolve().parent / "views"
# Each uses only tables of dialect.py and views before it.
ORDER = ("runs", "costs", "leaking_runs", "wasted_gpus", "smaller_gpus", "failed_runs", "fragmented_runs", "projects",
         "run_periods", "metrics", "regressions")


class Question(NamedTuple):
    view: str
    text: str
    order: str  # the worst first
    columns: Tuple[str, ...]  # in a terminal and on the page; the JSON has all
    none: str  # what it means that there is no row
    needs: str = ""  # an option without which it is not asked


QUESTIONS = (
    Question("projects", "What is in it?", "gpu_hours DESC, project",
             ("project", "runs", "users", "gpu_hours", "leaking", "failed", "wasting", "median_needed_share", "cost",
              "unused_cost", "currency"), "no runs"),
    Question("leaking_runs", "Which jobs leak?", "bytes_per_step DESC, run, subject",
             ("run", "project", "user_name", "subject", "bytes_per_step", "steps_to_oom", "file", "line", "kept_by", "fix",
              "headline"),
             "none that the recordings show"),
    Question("failed_runs", "Which ran out of memory, and what would have saved them?",
             "CASE WHEN caught THEN 1 ELSE 0 END, requested_bytes DESC, run",
             ("run", "project", "user_name", "gpu", "requested_bytes", "allocated_bytes", "capacity_bytes", "caught",
              "saved_by", "amount", "saves_bytes", "proof", "leaks", "headline"), "none"),
    Question("wasted_gpus", "Which waste more than half of their GPU?", "gpu_hours * (1 - needed_share) DESC, run",
             ("run", "project", "user_name", "gpu", "devices", "needed_bytes", "needed_share", "wasted_bytes", "gpu_hours",
              "unused_cost", "currency"), "none"),
    Question("smaller_gpus", "Which would fit a smaller GPU?", "gpu_hours DESC, run",
             ("run", "project", "user_name", "gpu", "needed_bytes", "fits_name", "fits_share", "gpu_hours", "saved_cost",
              "currency"), "none"),
    Question("fragmented_runs", "Which reserve much more than they use?", "unused_bytes DESC, run",
             ("run", "project", "user_name", "cause", "peak_reserved_bytes", "unused_bytes", "blocked_requests"), "none"),
    Question("regressions", "What changed between the two periods?", "p_adjusted, project, script, gpu, metric",
             ("project", "script", "gpu", "metric", "runs_before", "runs_after", "value_before", "value_after", "change",
              "share_higher", "p_adjusted", "verdict"),
             "nothing to compare: no project has five runs of a script in both periods", "--before"),
)


def text_of(view: str) -> str:
    """The statement that makes it."""
    return (VIEWS / f"{view}.sql").read_text(encoding="utf-8").strip()


def statements() -> List[str]:
    return [text_of(view) for view in ORDER]


def tables_of(texts: Iterable[str]) -> Set[str]:
    """Lists that these statements ask of, also through views."""
    pending = {word for text in texts for word in re.findall(r"[a-z_]+", text.lower())}
    for view in reversed(ORDER):
        if view in pending:
            pending |= set(re.findall(r"[a-z_]+", text_of(view).lower()))
    return pending & set(schema.LISTS)


def meaning_of(view: str) -> str:
    """The text at the top of its file."""
    lines = text_of(view).splitlines()[1:]
    said = []
    for line in lines:
        if not line.startswith("--"):
            break
        said.append(line[2:].strip())
    return " ".join(said)
