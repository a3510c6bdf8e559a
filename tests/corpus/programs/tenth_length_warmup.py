# SPDX-License-Identifier: Apache-2.0
"""Trains a language model on sequences that are cut: short at first, longer as the training goes on."""

import argparse

import torch
from torch import nn

VOCABULARY, WIDTH, ROWS = 300, 48, 4


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        query, key, value = self.qkv(hidden).chunk(3, dim=-1)
        scores = query @ key.transpose(1, 2) / WIDTH ** 0.5
        future = torch.ones(scores.shape[1:], dtype=torch.bool, device=tokens.device).triu(1)
        return self.head(hidden + scores.masked_fill(future, float("-inf")).softmax(-1) @ value)


class SeqLengthWarmup:
    """The length of sequences at a step: from the least to the most in steps, for a part of the training."""

    def __init__(self, total, duration=0.6, min_seq_length=8, max_seq_length=128, step_size=8):
        self.warmup = total * duration
        self.least, self.most, self.step_size = min_seq_length, max_seq_length, step_size

    def length(self, step):
        length = self.least + int((self.most - self.least) * min(1.0, step / self.warmup))
        return max(self.least, min(self.most, length - length % self.step_size))

    def apply(self, step, batch):
        length = self.length(step)
        return {name: tokens[:, :length].contiguous() for name, tokens in batch.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = LanguageModel().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    warmup = SeqLengthWarmup(total=100)
    for step in range(chosen.steps):
        text = torch.randint(VOCABULARY, (ROWS, 129))  # step
        batch = {"input_ids": text[:, :-1].to("cuda"), "labels": text[:, 1:].to("cuda")}
        batch = warmup.apply(step, batch)
        logits = model(batch["input_ids"])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"last loss {loss.item():.3f} at length {warmup.length(chosen.steps - 1)}")


if __name__ == "__main__":
    main()
