# SPDX-License-Identifier: Apache-2.0
"""Hugging Face mT5 (random weights) through Trainer: fp16, gradient accumulation, evaluation."""

import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
from transformers import MT5Config, MT5ForConditionalGeneration, Trainer, TrainingArguments

import told
from batches import DEVICE, options, peak


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count):
        self.source = torch.randint(2, 2000, (count, 96))
        self.target = torch.randint(2, 2000, (count, 64))

    def __len__(self):
        return len(self.source)

    def __getitem__(self, index):
        source = self.source[index]
        return {"input_ids": source, "attention_mask": torch.ones_like(source),
                "labels": self.target[index]}


class TellingTrainer(Trainer):
    def _prepare_inputs(self, inputs):
        prepared = super()._prepare_inputs(inputs)
        told.inputs(*prepared.values())
        return prepared


def main():
    chosen = options(steps=3)
    config = MT5Config(
        vocab_size=2000, d_model=256, d_kv=32, d_ff=512, num_layers=3, num_decoder_layers=3,
        num_heads=8, decoder_start_token_id=0,
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, max_steps=chosen.steps, per_device_train_batch_size=16,
            per_device_eval_batch_size=16, gradient_accumulation_steps=2, fp16=DEVICE == "cuda",
            eval_strategy="steps", eval_steps=2, save_strategy="no", report_to=[], disable_tqdm=True,
            logging_strategy="no", dataloader_num_workers=0, seed=0,
        )
        trainer = TellingTrainer(
            model=MT5ForConditionalGeneration(config), args=arguments,
            train_dataset=Sentences(128), eval_dataset=Sentences(32),
        )
        trainer.train()
    print(f"mt5: {trainer.state.global_step} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
