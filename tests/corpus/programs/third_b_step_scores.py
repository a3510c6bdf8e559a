# SPDX-License-Identifier: Apache-2.0
"""Generates answers and looks at how sure each word was; the scores of all words of all prompts stay in a list."""

import argparse

import torch
from torch import nn


class Writer(nn.Module):
    def __init__(self, words=500, width=96):
        super().__init__()
        self.embed, self.cell, self.head = nn.Embedding(words, width), nn.GRUCell(width, width), nn.Linear(width, words)

    def generate(self, word, count):
        state, scores = torch.zeros(len(word), 96, device="cuda"), []
        for _ in range(count):
            state = self.cell(self.embed(word), state)
            logits = self.head(state)  # allocates
            scores.append(logits)
            word = logits.argmax(-1)
        return word, scores


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    writer, all_scores = Writer().cuda().eval(), []
    for prompt in range(args.steps):
        first = torch.randint(500, (16,), device="cuda")  # step
        last, scores = writer.generate(first, 8)
        all_scores.extend(scores)  # keeps
        last.cpu()
    print(f"{len(all_scores)} words, the last one {all_scores[-1].softmax(-1).amax().item():.2f} sure")


if __name__ == "__main__":
    main()
