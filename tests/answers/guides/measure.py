# SPDX-License-Identifier: Apache-2.0
"""Runs of summarizer.py on simulated GPUs, traced; each is measured once and kept in a directory."""

import hashlib
import json
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.support import runs

PROGRAM = Path(__file__).with_name("summarizer.py")


@dataclass(frozen=True)
class Run:
    gpu: str
    model: str
    batch: int = 1
    evaluation_batch: int = 0
    do: str = "train"
    accumulate: int = 1
    source: int = 512
    target: int = 128
    precision: str = "fp32"
    train_what: str = "all"
    checkpointing: bool = False
    steps: int = 2
    last_batch: int = 0
    memory: str = ""  # other than the model's
    alloc_conf: str = ""
    launch_blocking: bool = False

    def arguments(self) -> list[str]:
        given = ["--model", self.model, "--do", self.do, "--precision", self.precision, "--train-what", self.train_what]
        for name in ("batch", "evaluation_batch", "accumulate", "source", "target", "steps", "last_batch"):
            given += ["--" + name.replace("_", "-"), str(getattr(self, name))]
        return given + ["--checkpointing"] * self.checkpointing

    def key(self) -> str:
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]


@dataclass
class Result:
    run: Run
    said: dict
    report: dict

    @property
    def device(self) -> dict:
        return self.report["devices"][0]

    @property
    def fits(self) -> bool:
        return self.said["fits"]

    @property
    def allocated(self) -> int:
        return self.said["peak_allocated"]

    @property
    def used(self) -> int:
        """As nvidia-smi would show it: reserved by PyTorch, and the context."""
        return self.said["peak_reserved"] + sum(each["bytes"] for each in self.device["outside_pool"])

    @property
    def share(self) -> float:
        return self.used / self.device["capacity_bytes"]

    @cached_property
    def categories(self) -> dict[str, int]:
        return {each["category"]: each["bytes"] for each in self.device["at_peak"]["categories"]}

    def highest_in(self, phase: str) -> int:
        return max((each["peak_allocated_bytes"] for each in self.device["phases"] if each["phase"] == phase), default=0)

    def advice(self, name: str) -> dict | None:
        return next((each for each in self.report["advice"] if each["id"] == name), None)


class Measurements:
    def __init__(self, directory: Path):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def __call__(self, run: Run) -> Result:
        kept = self.directory / (run.key() + ".json")
        if not kept.exists():
            kept.write_text(json.dumps(self.measure(run)))
        found = json.loads(kept.read_text())
        return Result(run, found["said"], found["report"])

    def measure(self, run: Run) -> dict:
        output = self.directory / run.key()
        output.mkdir(exist_ok=True)
        variables = {"PYTORCH_CUDA_ALLOC_CONF": run.alloc_conf} if run.alloc_conf else {}
        if run.launch_blocking:
            variables["CUDA_LAUNCH_BLOCKING"] = "1"
        outcome = runs.run([runs.python(), str(PROGRAM), *run.arguments()], output, env=variables, gpu=run.gpu,
                           memory=run.memory or None).expect(0)
        said = next(line for line in outcome.stdout.decode().splitlines() if line.startswith("RESULT "))
        report = runs.report(outcome.traces, output)
        (output / "report.json").unlink()
        for trace in outcome.traces:
            trace.unlink()
        output.rmdir()
        return {"said": json.loads(said.removeprefix("RESULT ")), "report": slim(report)}


def slim(report: dict) -> dict:
    """The figures that the tables are made from."""
    device = {name: report["devices"][0][name] for name in (
        "capacity_bytes", "peak_allocated_bytes", "peak_reserved_bytes", "outside_pool", "phases")}
    device["at_peak"] = {"categories": report["devices"][0]["at_peak"]["categories"]}
    return {"devices": [device], "advice": report["advice"], "fragmentation": report["fragmentation"],
            "verdicts": [{name: each[name] for name in ("subject", "shape")} for each in report["verdicts"]]}
