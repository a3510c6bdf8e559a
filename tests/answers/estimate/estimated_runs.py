# SPDX-License-Identifier: Apache-2.0
"""Configurations of transformers with random weights that are estimated and then really run."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import programs
import recordings
import runs

PROGRAM = programs.path("published_model")
GPU = "a100-80"


@dataclass(frozen=True)
class Case:
    model: str
    precision: str = "fp32"
    optimizer: str = "adamw"
    batch: int = 4
    sequence: int = 128
    attention: str = "sdpa"  # or eager
    lora: int = 0
    checkpointing: bool = False

    @property
    def name(self) -> str:
        extra = [f"lora {self.lora}"] if self.lora else []
        extra += ["checkpointing"] if self.checkpointing else []
        extra += ["scores stored"] if self.attention == "eager" else []
        return ", ".join([self.model, self.precision, self.optimizer,
                          f"{self.batch} × {self.sequence}", *extra])

    def arguments(self) -> list[str]:
        """The arguments of published_model.py."""
        line = [self.model, "--precision", self.precision, "--optimizer", self.optimizer,
                "--batch", str(self.batch), "--sequence", str(self.sequence), "--attention", self.attention]
        line += ["--lora", str(self.lora)] if self.lora else []
        return line + (["--checkpointing"] if self.checkpointing else [])

    def options(self) -> list[str]:
        """The options of memtrace estimate."""
        line = ["--model", self.model, "--precision", self.precision, "--optimizer", self.optimizer,
                "--batch", str(self.batch), "--sequence", str(self.sequence), "--attention",
                "fused" if self.attention == "sdpa" else "stored"]
        line += ["--lora", str(self.lora)] if self.lora else []
        return line + (["--checkpointing"] if self.checkpointing else [])


# The ones whose moments are tested with every change.
QUICK = [Case("t5-small", attention="eager"), Case("gpt2", precision="amp", sequence=256),
         Case("bert-base")]

ALL = [
    *QUICK,
    Case("gpt2"), Case("gpt2", attention="eager", sequence=256), Case("gpt2", precision="bf16"),
    Case("gpt2", batch=8, sequence=512), Case("gpt2", batch=8, sequence=512, checkpointing=True),
    Case("gpt2", optimizer="adamw-fused"), Case("gpt2", optimizer="adamw-8bit"),
    Case("gpt2", optimizer="sgd-momentum"), Case("gpt2", optimizer="sgd"),
    Case("gpt2", batch=8, sequence=512, lora=16), Case("gpt2-medium", precision="amp", batch=8, sequence=256),
    Case("bert-base", precision="amp", batch=16), Case("bert-base", precision="bf16", batch=16),
    Case("bert-large", batch=8, sequence=256),
    Case("t5-small"), Case("t5-small", precision="amp", attention="eager", batch=16),
    Case("t5-base", attention="eager", batch=8, sequence=256),
    Case("t5-large", attention="eager", batch=4, sequence=256),
    Case("t5-base", optimizer="adafactor", attention="eager"),
    Case("mt5-small", attention="eager"), Case("mt5-small", precision="amp", attention="eager", batch=8),
    Case("llama-3.2-1b", precision="bf16"), Case("llama-3.2-1b", precision="bf16", batch=8, sequence=512),
]



@dataclass
class Outcome:
    case: Case
    estimated: dict
    measured: dict

    def backward(self) -> tuple[int, int]:
        """The higher of both ends of the backward pass, estimated and measured."""
        outside = self.estimated["outside_pool_bytes"]
        ends = max(self.estimated["backward_begins_bytes"], self.estimated["backward_ends_bytes"])
        return ends - outside, self.measured["backward_peak"]

    def step(self) -> tuple[int, int]:
        estimated = self.estimated["optimizer_steps_bytes"] - self.estimated["outside_pool_bytes"]
        return estimated, self.measured["step_peak"]

    def peak(self) -> tuple[int, int]:
        return tuple(map(max, zip(self.backward(), self.step())))

    def error(self) -> float:
        estimated, measured = self.peak()
        return estimated / measured - 1


def estimate(case: Case, folder: Path) -> dict:
    target = folder / "estimate.json"
    subprocess.run([str(runs.memtrace()), "estimate", *case.options(), "--gpu", GPU, "--json", str(target)],
                   check=True, capture_output=True, env=runs.environment())
    return json.loads(target.read_text())


def measure(case: Case) -> dict:
    done = recordings.record(PROGRAM, *case.arguments(), bare=True, gpu=GPU, imports=("transformers",)).expect(0)
    return json.loads(done.stdout.splitlines()[-1])


def run(chosen: list[Case], folder: Path) -> list[Outcome]:
    """Estimates first, before what is measured is known."""
    estimated = [estimate(case, folder) for case in chosen]
    measured = [measure(case) for case in chosen]
    return [Outcome(*parts) for parts in zip(chosen, estimated, measured)]
