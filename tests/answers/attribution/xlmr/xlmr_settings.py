# SPDX-License-Identifier: Apache-2.0
"""Every setting of seed 002, run on the smallest simulated GPU that holds it."""

import itertools
import json
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "support")]

import formulas  # noqa: E402
import runs  # noqa: E402

# From small to large, with what they hold in GiB; the last is no product.
GPUS = [("h100-80", None, 79.2), ("h200", None, 139.8), ("b200", None, 178.4), ("b200", "640GiB", 640)]


@dataclass(frozen=True)
class Row:
    batch: int
    length: int
    train: str
    amp: str
    checkpointing: str
    attention: str

    def arguments(self) -> list[str]:
        named = {
            "batch": self.batch, "length": self.length, "train": self.train, "amp": self.amp,
            "checkpointing": self.checkpointing, "attention": self.attention,
        }
        return [part for name, value in named.items() for part in (f"--{name}", str(value))]


@dataclass
class Result:
    row: Row
    gpu: str
    said: dict  # by the program itself, from PyTorch's own counters
    report: dict


def all_rows() -> list[Row]:
    shapes = [(256, 512), (64, 256)]
    grid = itertools.product(shapes, ("eager", "sdpa"), ("lora", "full"), ("off", "bf16"), ("off", "on"))
    rows = [Row(*shape, train, amp, kept, attention) for shape, attention, train, amp, kept in grid]
    return [*rows, Row(64, 256, "lora", "fp16", "off", "eager")]


def run(row: Row, folder: Path) -> Result:
    """Traced, on the first of the GPUs where it does not run out of memory; those that are too small
    for what forward must keep are not tried."""
    command = [runs.python(), str(HERE / "finetune.py"), *row.arguments()]
    for gpu, memory, gib in GPUS:
        if formulas.kept_by_forward(row) > gib * 2**30:
            continue
        output = folder / f"{gpu}-{memory}"
        outcome = runs.run(command, output, gpu=gpu, memory=memory)
        if outcome.status == 0:
            break
        if b"OutOfMemoryError" not in outcome.stderr:
            outcome.expect(0)
    outcome.expect(0)
    line = next(line for line in outcome.stdout.decode().splitlines() if line.startswith("RESULT "))
    report = runs.report(outcome.traces, output)
    return Result(row, memory or gpu, json.loads(line.removeprefix("RESULT ")), report)
