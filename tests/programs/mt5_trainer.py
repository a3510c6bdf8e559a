# SPDX-License-Identifier: Apache-2.0
"""Hugging Face mT5 (a tiny one, random weights) through Trainer: fp16, evaluation every two steps. With --large a small
one, with gradient accumulation."""

import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
from transformers import MT5Config, MT5ForConditionalGeneration, Trainer, TrainingArguments

import told
from batches import DEVICE, Prefetcher, options, peak
from variant import flag


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count: int, words: int, lengths: tuple[int, int]):
        generator = torch.Generator().manual_seed(1)
        self.source = torch.randint(2, words, (count, lengths[0]), generator=generator)
        self.target = torch.randint(2, words, (count, lengths[1]), generator=generator)

    def __len__(self):
        return len(self.source)

    def __getitem__(self, index):
        source = self.source[index]
        return {
            "input_ids": source,
            "attention_mask": torch.ones_like(source),
            "labels": self.target[index],
        }


class TellingTrainer(Trainer):
    def _prepare_inputs(self, inputs):
        prepared = super()._prepare_inputs(inputs)
        told.inputs(*prepared.values())
        return prepared


class StreamTrainer(Trainer):
    """Copies each batch on a stream of its own."""

    prefetcher = None

    def _prepare_inputs(self, inputs):
        if self.prefetcher is None:
            self.prefetcher = Prefetcher()
        names = list(inputs)
        copied = self.prefetcher.copy(tuple(inputs[name].cpu() for name in names))
        return dict(zip(names, self.prefetcher.hand_over(copied)))


def main():
    large = flag("--large")
    chosen = options(steps=3 if large else 4)
    config = MT5Config(
        vocab_size=2000, d_model=256, d_kv=32, d_ff=512, num_layers=3, num_decoder_layers=3,
        num_heads=8, decoder_start_token_id=0,
    ) if large else MT5Config(
        vocab_size=320, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_decoder_layers=2,
        num_heads=4, decoder_start_token_id=0,
    )
    model = MT5ForConditionalGeneration(config)
    batch = 16 if large else 4
    kind = (2000, (96, 64)) if large else (300, (24, 16))
    training, evaluation = (Sentences(count * batch, *kind) for count in (8, 2))
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, max_steps=chosen.steps, per_device_train_batch_size=batch,
            per_device_eval_batch_size=batch, gradient_accumulation_steps=2 if large else 1, fp16=DEVICE == "cuda",
            eval_strategy="steps", eval_steps=2, save_strategy="no", report_to=[], disable_tqdm=True,
            logging_strategy="no", dataloader_num_workers=0, seed=0,
        )
        trainer = (StreamTrainer if chosen.streams else TellingTrainer)(
            model=model, args=arguments, train_dataset=training, eval_dataset=evaluation
        )
        trainer.train()
    print(f"mt5: {trainer.state.global_step} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
