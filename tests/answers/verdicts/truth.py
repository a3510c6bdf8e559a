# SPDX-License-Identifier: Apache-2.0
"""What is true of a program's memory, written from reading the program, before memtrace ran on it.

Lines are named by comments at their ends in the program, so that they cannot go stale:
    # allocates    memory that stays is asked for here (any of several such lines is right)
    # keeps        and this is what keeps it
    # fills        memory that fills up and is emptied again is asked for here
"""

import re
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"

GROWS = "grows"
FILLS = "fills and empties"  # within an epoch, an evaluation, an episode
STAYS = "does not grow"

LEAK_SHAPES = ("accumulating", "stepwise", "sawtooth_leak")


@dataclass(frozen=True)
class Truth:
    program: str  # programs/NAME.py
    memory: str  # GROWS, FILLS or STAYS
    why: str
    # Which verdict must say it: "device" (also one of its sites or categories), "reserved", "host",
    # "phase:evaluation", …; any of them is right.
    subject: tuple[str, ...] = ("device",)
    shapes: tuple[str, ...] = ()  # acceptable; empty: any that fits `memory`
    # Regular expression over "path; container; owner; holder". With FILLS: the report has to say so,
    # with its line; without, it only must not call it a leak.
    kept_by: str | None = None
    remedy: str | None = None  # regular expression over what the report says to write instead
    # Regular expressions over the first culprit's, which are those of the memory that grows.
    phase: str | None = None
    category: str | None = None
    habit: str | None = None  # id expected in advice[]
    bytes_per_step: float | None = None  # worked out by hand
    tolerance: float = 0.1
    min_steps: int = 30  # a shorter run may be "unknown"
    why_steps: str = ""  # why it takes more than 100 of them
    known_wrong: str = ""  # what is said instead, as RESULTS.md has it: a limit, not a regression
    steps: tuple[int, ...] = (30, 100, 300)
    arguments: tuple[str, ...] = ()
    source: str = ""  # where the case was published
    gpu: str = "rtx3090"
    memory_size: str | None = None
    quick: bool = False  # tested with every change; the others by make_results.py

    @property
    def path(self) -> Path:
        return PROGRAMS / f"{self.program}.py"

    def lines(self, marker: str) -> set[int]:
        """The lines that end in this comment."""
        pattern = re.compile(rf"#\s*(<-\s*)?{marker}\s*$")
        text = self.path.read_text().splitlines()
        return {number for number, line in enumerate(text, 1) if pattern.search(line)}
