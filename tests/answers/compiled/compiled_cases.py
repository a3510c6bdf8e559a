# SPDX-License-Identifier: Apache-2.0
"""Which compiled programs are compared with the truth, and how one of them runs."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import compiled_agreement
import programs
import runs

HERE = Path(__file__).resolve().parent
COLLECT = HERE / "collect_truth.py"
MOMENTS = ("end of forward", "end of step")  # of each the one with the most memory


@dataclass(frozen=True)
class Case:
    name: str
    program: str
    arguments: tuple[str, ...] = ()
    quick: bool = False
    what: str = ""

    @property
    def runs(self) -> tuple[str, ...]:
        return ("eager",) if "--eager" in self.arguments else ("compiled", "cached")


CASES = [
    Case("nanoGPT, eager", "nano_gpt", ("--eager",), what="the same without torch.compile"),
    Case("nanoGPT", "nano_gpt", what="tied embeddings, flash attention, AdamW"),
    Case("ResNet", "resnet", what="BatchNorm, SGD with momentum"),
    Case("BERT, Trainer", "bert", what="transformers, torch_compile=True"),
    Case("mT5, Trainer", "mt5_compiled", what="encoder and decoder, torch_compile=True"),
    Case("LoRA, peft", "lora_compiled", what="Llama in bfloat16"),
    Case("DDP", "ddp_compiled", what="one rank, a hook that tells the buckets"),
    Case("FSDP2", "fsdp_compiled", what="one rank, fully_shard, blocks compiled"),
    Case("dynamic shapes", "dynamic", what="dynamic=True, five lengths"),
    Case("reduce-overhead", "cuda_graphs", what="CUDA graphs"),
    Case("graph breaks", "breaks", what="one in each block"),
    Case("regional", "regional", quick=True, what="each block compiled"),
    Case("compiled optimizer", "compiled_step", what="AdamW's step compiled"),
    Case("compiled autograd", "whole_autograd", what="backward compiled as one graph"),
    Case("checkpointing", "checkpoints", what="activation checkpointing inside compile"),
    Case("autocast", "autocast", what="bfloat16 autocast, transformer layers of torch.nn"),
    Case("two models", "two_models", what="generator and critic, each compiled"),
    Case("no module", "no_module", what="a compiled function over plain tensors"),
]


@dataclass
class Outcome:
    case: Case
    run: str  # of the case's runs; "cached": from Inductor's cache, without compiling
    truth: dict
    found: list = field(default_factory=list)  # of compiled_agreement.Found

    @property
    def good(self) -> bool:
        return not self.truth["problems"] and all(one.good for one in self.found)


def _run(case: Case, folder: Path, known, name: str) -> Outcome:
    """`known`: what the first process wrote, or "-"."""
    target = folder / f"{name}.json"
    command = [runs.python(), COLLECT, target, known, programs.path(case.program), *case.arguments]
    settings = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "OMP_NUM_THREADS": "1",
                "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    traced = runs.run(command, folder / name, timeout=900, env=settings).expect(0)
    truth = json.loads(target.read_text())
    trace = next(one for one in traced.traces if f".{truth['process']}." in one.name)
    outcome = Outcome(case, name, truth)
    outcome.found = compiled_agreement.compare(trace, truth, folder, MOMENTS)[1]
    return outcome


def run_case(case: Case, folder: Path) -> list[Outcome]:
    """Compiled, and then in a second process from the cache that the first one filled; or eager."""
    outcomes = []
    for name in case.runs:
        known = folder / "compiled.json" if name == "cached" else "-"
        outcomes.append(_run(case, folder, known, name))
    return outcomes
