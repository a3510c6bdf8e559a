# SPDX-License-Identifier: Apache-2.0
"""Trains a small decoder with a curriculum, which sets how much of each sequence a step sees."""

import argparse

import torch
from torch import nn


class CurriculumScheduler:
    """A difficulty that rises linearly in steps of a given size."""

    def __init__(self, min_difficulty, max_difficulty, total_curriculum_step, difficulty_step):
        self.min_difficulty, self.max_difficulty = min_difficulty, max_difficulty
        self.total_curriculum_step, self.difficulty_step = total_curriculum_step, difficulty_step

    def difficulty(self, step):
        share = min(step / self.total_curriculum_step, 1.0)
        reached = int(self.min_difficulty + share * (self.max_difficulty - self.min_difficulty))
        return min(reached - reached % self.difficulty_step, self.max_difficulty)


class Block(nn.Module):
    def __init__(self, size=64):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(size), nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.feed = nn.Sequential(nn.LayerNorm(size), nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size))

    def forward(self, hidden):
        query, key, value = self.qkv(self.norm(hidden)).chunk(3, dim=-1)
        scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
        later = torch.ones(scores.shape[1:], dtype=torch.bool, device=scores.device).triu(1)
        hidden = hidden + self.out(scores.masked_fill(later, -1e4).softmax(-1) @ value)
        return hidden + self.feed(hidden)


class Decoder(nn.Module):
    def __init__(self, vocabulary=160, longest=96, size=64):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, size), nn.Embedding(longest, size)
        self.blocks = nn.Sequential(Block(size), Block(size))
        self.head = nn.Linear(size, vocabulary)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.blocks(self.tokens(tokens) + self.positions(places)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Decoder().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    scheduler = CurriculumScheduler(8, 96, total_curriculum_step=80, difficulty_step=8)
    for step in range(chosen.steps):
        seqlen = scheduler.difficulty(step)  # step
        text = torch.randint(0, 160, (12, 97), device="cuda")
        tokens, labels = text[:, :seqlen], text[:, 1:seqlen + 1]
        optimizer.zero_grad()
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        loss.backward()
        optimizer.step()
        if step % 8 == 7:
            print(f"step {step}: length {seqlen}, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
