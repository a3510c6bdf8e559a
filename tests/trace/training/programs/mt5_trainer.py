# SPDX-License-Identifier: Apache-2.0
"""Hugging Face mT5 (a tiny one, random weights) through Trainer: fp16, evaluation every two steps."""

import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
from transformers import MT5Config, MT5ForConditionalGeneration, Trainer, TrainingArguments

from batches import DEVICE, Prefetcher, options, peak


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count: int):
        generator = torch.Generator().manual_seed(1)
        self.source = torch.randint(2, 300, (count, 24), generator=generator)
        self.target = torch.randint(2, 300, (count, 16), generator=generator)

    def __len__(self):
        return len(self.source)

    def __getitem__(self, index):
        source = self.source[index]
        return {
            "input_ids": source,
            "attention_mask": torch.ones_like(source),
            "labels": self.target[index],
        }


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
    chosen = options(steps=4)
    config = MT5Config(
        vocab_size=320, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_decoder_layers=2,
        num_heads=4, decoder_start_token_id=0,
    )
    model = MT5ForConditionalGeneration(config)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, max_steps=chosen.steps, per_device_train_batch_size=4,
            per_device_eval_batch_size=4, fp16=DEVICE == "cuda", eval_strategy="steps",
            eval_steps=2, save_strategy="no", report_to=[], disable_tqdm=True,
            logging_strategy="no", dataloader_num_workers=0, seed=0,
        )
        trainer = (StreamTrainer if chosen.streams else Trainer)(
            model=model, args=arguments, train_dataset=Sentences(32), eval_dataset=Sentences(8)
        )
        trainer.train()
    print(f"mt5: {trainer.state.global_step} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
