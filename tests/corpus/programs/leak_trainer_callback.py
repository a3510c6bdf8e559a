# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer with a callback that keeps hidden states of every step for a plot."""

import argparse
import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import (
    BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments,
)


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count, seed):
        drawn = torch.Generator().manual_seed(seed)
        self.tokens = torch.randint(500, (count, 96), generator=drawn)
        self.labels = torch.randint(3, (count,), generator=drawn)

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.labels[index]}


class KeepHiddenStates(TrainerCallback):
    """Keeps the last layer's states of each step, to show later how they moved."""

    def __init__(self, model):
        self.states, self.latest = [], None
        model.bert.register_forward_hook(self.seen)

    def seen(self, module, inputs, output):
        self.latest = output.last_hidden_state.detach()

    def on_step_end(self, args, state, control, **kwargs):
        self.states.append(self.latest)  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = BertForSequenceClassification(BertConfig(
        vocab_size=500, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192,
        num_labels=3,
    ))
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=folder, max_steps=chosen.steps, per_device_train_batch_size=16,
                eval_strategy="steps", eval_steps=10, logging_steps=10, save_strategy="no",
                report_to=[], disable_tqdm=True, seed=chosen.seed,
            ),
            train_dataset=Sentences(320, chosen.seed), eval_dataset=Sentences(64, chosen.seed + 1),
            callbacks=[KeepHiddenStates(model)],
        )
        trainer.train()  # allocates


if __name__ == "__main__":
    main()
