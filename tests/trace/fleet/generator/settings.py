# SPDX-License-Identifier: Apache-2.0
"""The real short runs that a made-up fleet descends from, and what each does by construction.

`kind` is what the program was written to do: steady trains and keeps nothing; leak keeps memory of every step;
oom asks for more than the GPU has; oom_leak leaks until nothing is left. Whether it did is PyTorch's word
(varied_training.py prints it), and real_runs.py refuses a run that did otherwise.
"""

from typing import NamedTuple


class Setting(NamedTuple):
    name: str
    kind: str
    gpu: str
    arguments: str
    memory: str = ""  # of the GPU, instead of the model's


def _settings() -> list[Setting]:
    made = []

    def add(kind: str, gpu: str, arguments: str, memory: str = "") -> None:
        words = arguments.split()
        name = f"{kind}_{words[1]}_{len(made):02d}"
        made.append(Setting(name, kind, gpu, arguments, memory))

    # small, middle, large; two precisions; fixed and varied lengths
    for model, gpu, width, length, batches in (
            ("encoder", "a100-80", 1024, 512, (32, 128, 512)), ("language", "rtx3090", 512, 256, (16, 96, 320)),
            ("mlp", "rtx3090", 1024, 512, (32, 128, 512)), ("convolutions", "t4", 64, 128, (16, 96, 480)),
            ("recurrent", "rtxa6000", 1024, 256, (16, 64, 256))):
        for batch in batches:
            add("steady", gpu, f"--model {model} --batch {batch} --width {width} --length {length}")
        add("steady", gpu, f"--model {model} --batch {batches[1]} --width {width} --length {length} --precision bf16")
    add("steady", "a100-40", "--model encoder --batch 64 --width 1024 --length 512 --optimizer SGD")
    add("steady", "a100-40", "--model encoder --batch 128 --width 512 --length 512 --lengths varied --steps 32")
    add("steady", "l4", "--model language --batch 64 --width 512 --length 256 --lengths varied --steps 32")

    for keeps in ("outputs", "features", "cache"):
        for model, gpu, sizes in (
                ("encoder", "a100-40", "--batch 8 --width 1024 --length 256"),
                ("language", "rtx3090", "--batch 8 --width 512 --length 128"),
                ("mlp", "rtx3090", "--batch 32 --width 1024 --length 256")):
            add("leak", gpu, f"--model {model} {sizes} --steps 40 --keeps {keeps}")

    add("oom", "rtx3060", "--model language --batch 512 --width 512 --length 256")
    add("oom", "t4", "--model convolutions --batch 1024 --width 64 --length 160")
    add("oom", "rtx3060", "--model mlp --batch 768 --width 1024 --length 512")
    add("oom", "rtx3060", "--model encoder --batch 256 --width 1024 --length 512 --precision bf16")
    add("oom", "rtx3060", "--model encoder --batch 160 --width 1024 --length 512 --lengths varied --steps 32")
    add("oom_leak", "rtx3060", "--model encoder --batch 32 --width 1024 --length 256 --keeps outputs --steps 60")
    add("oom_leak", "rtx3060", "--model mlp --batch 128 --width 1024 --length 512 --keeps features --steps 60")
    return made


ALL = _settings()
# Those that the quick tests make: one of each kind and model that matters.
QUICK = [setting for setting in ALL if setting.name in (
    "steady_encoder_01", "steady_language_04", "steady_mlp_10", "leak_encoder_23", "leak_mlp_28", "oom_language_32",
    "oom_leak_mlp_38")]
