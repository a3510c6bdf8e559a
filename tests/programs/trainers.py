# SPDX-License-Identifier: Apache-2.0
"""Shared by the programs that go through transformers' Trainer; no program itself."""

import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from transformers import Trainer, TrainerCallback, TrainingArguments

import compiling


class Tell(TrainerCallback):
    def on_step_end(self, arguments, state, control, **more):
        compiling.tell("step")


class TellingTrainer(Trainer):
    def _prepare_inputs(self, inputs):
        prepared = super()._prepare_inputs(inputs)
        compiling.tell("inputs", *prepared.values())
        return prepared


def train(chosen, model, data, batch: int, **how) -> None:
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, max_steps=chosen.steps, per_device_train_batch_size=batch,
            torch_compile=not chosen.eager, save_strategy="no", report_to=[], disable_tqdm=True,
            logging_strategy="no", dataloader_num_workers=0, seed=0, **how,
        )
        TellingTrainer(model=model, args=arguments, train_dataset=data, callbacks=[Tell()]).train()
    compiling.finish()
