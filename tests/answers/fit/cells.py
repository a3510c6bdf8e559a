# SPDX-License-Identifier: Apache-2.0
"""The programs of this folder, the GPUs that each is tried on, and how a batch is given to it.

A cell is a program on a GPU. `with_batch` puts a batch in place by itself, without memtrace fit; `template`
says the same in the words of `memtrace fit --batch`.
"""

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
sys.path.insert(0, str(HERE.parents[1] / "support"))

SMALL = ("rtx3080", "rtx3060", "t4", "l4", "rtx3090", "rtx5090")
MIDDLE = ("rtx3080", "rtx3060", "t4", "a10g", "l4", "rtx4090")
LARGE = ("t4", "a10", "rtx3090", "rtx5090", "a100-40", "l40s")
TRAINER = ("--output_dir", "{scratch}", "--max_steps", "5", "--report_to", "none", "--save_strategy", "no",
           "--disable_tqdm", "True")


@dataclass(frozen=True)
class Program:
    name: str
    what: str
    template: str
    gpus: tuple = SMALL
    arguments: tuple = ()
    files: tuple = ()    # beside the program itself, what it is made of
    imports: tuple = ()  # what runs of all batches share, beside torch

    def command(self, python: str, scratch: Path) -> list[str]:
        """As a user would start it; {scratch} is a folder of the run's own, {programs} that of the programs."""
        return [python, str(PROGRAMS / f"{self.name}.py"),
                *(each.format(scratch=scratch, programs=PROGRAMS) for each in self.arguments)]

    def with_batch(self, python: str, scratch: Path, batch: int) -> tuple[list[str], dict[str, str]]:
        """The command and the variables that make this program use `batch`."""
        command = self.command(python, scratch)
        if self.template.startswith("env:"):
            return command, {self.template.removeprefix("env:").removesuffix("={}"): str(batch)}
        if ":" in self.template:
            file, _, key = self.template.removesuffix("={}").partition(":")
            changed = scratch / Path(file).name
            read, write = (yaml.safe_load, yaml.safe_dump) if file.endswith(".yaml") else (json.loads, json.dumps)
            settings = read((PROGRAMS / file).read_text())
            *outer, last = key.split(".")
            inner = settings
            for each in outer:
                inner = inner[each]
            inner[last] = batch
            changed.write_text(write(settings))
            return [str(changed) if word == str(PROGRAMS / file) else word for word in command], {}
        return [*command, *self.template.format(batch).split()], {}

    def content(self) -> str:
        """Changes when the program does: what was found for another content is not found."""
        digest = hashlib.sha256()
        for each in (f"{self.name}.py", *self.files):
            digest.update((PROGRAMS / each).read_bytes())
        digest.update(repr((self.template, self.arguments)).encode())
        return digest.hexdigest()[:16]


ALL = [
    Program("nanogpt", "GPT-2 124 M, bf16 autocast, evaluation in between", "--batch_size={}", files=("gpt.py",)),
    Program("resnet", "ResNet-50 at 1280 pixels, cuDNN, DataLoader, SGD", "--batch-size {}"),
    Program("vit", "ViT-Large at 768 pixels, fp16 with GradScaler", "--batch-size {}"),
    Program("lora", "LoRA on a frozen GPT of 1.3 B in bf16", "--micro-batch {}", LARGE, files=("gpt.py",)),
    Program("checkpointed", "GPT 354 M with checkpointing", "--batch {}", MIDDLE, files=("gpt.py",)),
    Program("lstm_accumulating", "LSTM through cuDNN, gradients accumulated", "--batch-size {}"),
    Program("unet_evaluating", "U-Net, evaluated with twice the batch", "--batch-size {}"),
    Program("generate", "GPT 1.3 B generating with a growing KV cache", "--batch-size {}", files=("gpt.py",)),
    Program("diffusion_config", "diffusion model with EMA, batch in a YAML file",
            "diffusion.yaml:train.batch_size={}", arguments=("{programs}/diffusion.yaml",), files=("diffusion.yaml",)),
    Program("gan", "GAN with two optimizers, batch in a JSON file", "gan.json:batch_size={}", MIDDLE,
            arguments=("--config", "{programs}/gan.json"), files=("gan.json",)),
    Program("speech_environment", "speech encoder, batch in a variable", "env:BATCH_SIZE={}"),
    Program("t5_seq2seq", "T5-base on long documents, Adafactor", "--train-batch-size {}", LARGE,
            imports=("transformers.models.t5.modeling_t5",)),
    Program("bert_trainer", "BERT-large by the Trainer", "--per_device_train_batch_size {}", arguments=TRAINER,
            imports=("transformers.models.bert.modeling_bert", "transformers.trainer")),
]


def named(name: str) -> Program:
    return next(each for each in ALL if each.name == name)
