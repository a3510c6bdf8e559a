# SPDX-License-Identifier: Apache-2.0
"""The machine that is verified on, real or simulated, and what the result of a check looks like."""

import datetime
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import programs
import runs

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
SAMPLES = HERE / "samples"

MODELS = [  # part of the device's name, the simulated GPU that stands for it
    ("H200", "h200"), ("H100 NVL", "h100-94"), ("H100", "h100-80"), ("B200", "b200"),
    ("A100-SXM4-40GB", "a100-40"), ("A100-PCIE-40GB", "a100-40"), ("A100", "a100-80"),
    ("V100-SXM2-32GB", "v100-32"), ("V100-PCIE-32GB", "v100-32"), ("V100", "v100-16"),
    ("A10G", "a10g"), ("A10", "a10"), ("L40S", "l40s"), ("L4", "l4"), ("T4", "t4"),
    ("3060", "rtx3060"), ("3080", "rtx3080"), ("3090", "rtx3090"), ("4090", "rtx4090"),
    ("5090", "rtx5090"), ("A6000", "rtxa6000"), ("P100", "p100-16"),
]
ASK = """
import json, platform, torch
facts = torch.cuda.get_device_properties(0)
print(json.dumps({"gpu": facts.name, "total_bytes": facts.total_memory, "torch": torch.__version__,
    "cuda": torch.version.cuda, "capability": f"{facts.major}.{facts.minor}",
    "python": platform.python_version(), "devices": torch.cuda.device_count()}))
"""


@dataclass
class Check:
    """One of the things that are verified. Nothing in `wrong` and something in `results`: passed."""

    letter: str
    title: str
    results: list = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)  # what this machine cannot show

    @property
    def status(self) -> str:
        if self.wrong:
            return "failed"
        return "passed" if self.results else "skipped"

    def add(self, result: dict, wrong: str | None = None) -> None:
        self.results.append(result)
        if wrong:
            self.wrong.append(wrong)
        print(f"({self.letter}) {json.dumps(result)[:300]}", file=sys.stderr, flush=True)

    def as_json(self) -> dict:
        return {"check": self.letter, "title": self.title, "status": self.status,
                "wrong": self.wrong, "skipped": self.skipped, "unverified": self.unverified,
                "results": self.results}


def first_words(error: object) -> str:
    return " ".join(str(error).split())[-600:]


def ask_python(text: str) -> str:
    """Standard output of the text, run as a program that may use the GPU."""
    return runs.run([runs.python(), "-c", text], None).expect(0).stdout.decode()


def facts_of_the_machine() -> dict:
    facts = json.loads(ask_python(ASK).splitlines()[-1])
    facts["simulated"] = not runs.on_real_gpu()
    facts["driver"] = "simulated"
    if runs.on_real_gpu():
        driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                                capture_output=True, text=True)
        facts["driver"] = (driver.stdout.split() or ["unknown"])[0]
    facts["model"] = next((key for part, key in MODELS if part in facts["gpu"]), None)
    facts["date"] = datetime.date.today().isoformat()
    return facts


def missing_module(program: str) -> str | None:
    """The package that a program of tests/programs imports and this Python lacks."""
    names = ["torch", *programs.needs(program)]
    text = f"import importlib.util as u; print(*[n for n in {names!r} if u.find_spec(n) is None])"
    found = subprocess.run([runs.python(), "-c", text], capture_output=True, text=True, check=True)
    return (found.stdout.split() or [None])[0]


def tool(name: str) -> str | None:
    """A tool of the CUDA toolkit, on the path or where it is installed."""
    for folder in (os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if folder and (found := shutil.which(name, path=f"{folder}/bin")):
            return found
    return shutil.which(name)
