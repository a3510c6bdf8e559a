# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer on a tiny random Llama: evaluation, clipping, gradient accumulation."""

import argparse
import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Texts(torch.utils.data.Dataset):
    def __init__(self, count, seed):
        self.tokens = torch.randint(400, (count, 64), generator=torch.Generator().manual_seed(seed))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.tokens[index]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=400, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128,
    ))
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=folder, max_steps=chosen.steps, per_device_train_batch_size=8,
                gradient_accumulation_steps=2, eval_strategy="steps", eval_steps=10, logging_steps=5,
                save_strategy="no", report_to=[], disable_tqdm=True, seed=chosen.seed,
            ),
            train_dataset=Texts(480, chosen.seed), eval_dataset=Texts(48, chosen.seed + 1),
            compute_metrics=lambda result: {"tokens": result.predictions.shape[1]},
        )
        trainer.train()


if __name__ == "__main__":
    main()
