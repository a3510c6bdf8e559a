# SPDX-License-Identifier: Apache-2.0
"""The best remedy of a program, written down from reading it and from really running the changed
program, before any advice on it existed.

A change is what makes the program another one: a value of its own switch --change, or (with `conf:` in
front) a value of PYTORCH_CUDA_ALLOC_CONF, or (with `all:`) made from outside by any_program.py.
truth.json holds what PyTorch itself measured of each."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import programs

HERE = Path(__file__).resolve().parent
CONF = "conf:"
OUTSIDE = "all:"  # any_program.py
AMOUNT = "{amount}"
EXPANDABLE = f"{CONF}expandable_segments:True"
MIB = 1 << 20

# The figures measured in truth.json that a remedy is meant to save.
RESERVED = "peak_reserved_bytes"
PINNED = "pinned_bytes"
DRIVER = "driver_allocations"


@dataclass(frozen=True)
class Truth:
    program: str  # of tests/programs
    why: str
    best: tuple[str, ...] = ()  # ids of advice, one of which has to be first or second; healthy: none
    change: str = ""  # that does it for real
    # Other remedies: id of advice (`id:amount` where the amount makes a difference) → change, with
    # {amount} in place of what the advice says.
    others: dict[str, str] = field(default_factory=dict)
    amounts: tuple[str, ...] = ()  # that {amount} is measured with
    also: tuple[str, ...] = ()  # changes that are measured, too: ids of no advice, or other amounts of it
    saves: str = RESERVED
    # The place is asked for unless a remedy saves no bytes of the GPU: those are ranked by them.
    place: int | None = 2
    mends: bool = False  # the program runs out of memory, the changed one does not
    memory: str = ""  # of the GPU, unless the model's own
    imports: tuple[str, ...] = ()
    quick: bool = False  # tested with every change; the others by make_results.py

    @property
    def name(self) -> str:
        return f"{self.program}@{self.memory}" if self.memory else self.program

    @property
    def path(self) -> Path:
        return programs.path(self.program)

    def changes(self) -> list[str]:
        """All that are measured, the unchanged program first."""
        others = [change.format(amount=amount) for change in self.others.values()
                  for amount in (self.amounts if AMOUNT in change else ("",))]
        return list(dict.fromkeys(["", *([self.change] if self.change else []), EXPANDABLE, *others,
                                   *self.also]))

    def change_of(self, advice: dict) -> str | None:
        """The change that does for real what a piece of advice says; None: nothing that is known here."""
        settings = advice.get("amount", "")
        for name in (f"{advice['id']}:{settings}", advice["id"]):
            if name in self.others:
                return self.others[name].format(amount=settings)
        if advice["id"] in self.best and not self.change.startswith(CONF):
            return self.change
        if ":" in settings:
            return f"{CONF}{settings}"
        return self.from_outside(advice["id"], settings)

    def from_outside(self, name: str, amount: str) -> str | None:
        text = self.path.read_text()
        if name == "add_empty_cache":
            return f"{OUTSIDE}{name}" if amount == "each step" and "optimizer.step()" in text else None
        if name == "pure_bf16":
            return f"{OUTSIDE}{name}" if "half" not in text else None
        if name == "checkpointing":
            return f"{OUTSIDE}{name}={amount}" if amount.isidentifier() else None
        return f"{OUTSIDE}{name}" if name in ("optimizer_sgd", "optimizer_adafactor") else None


def measured(file: str = "truth.json") -> dict:
    """By name and change."""
    return json.loads((HERE / file).read_text())
