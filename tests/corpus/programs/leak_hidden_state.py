# SPDX-License-Identifier: Apache-2.0
"""Perplexity of a long text with a recurrent network: the hidden state goes from chunk to chunk."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class LanguageModel(nn.Module):
    def __init__(self, words=500, size=64, width=128):
        super().__init__()
        self.embed = nn.Embedding(words, size)
        self.input = nn.Linear(size, width)
        self.recurrent = nn.Linear(width, width)
        self.next_word = nn.Linear(width, words)

    def forward(self, chunk, hidden):
        outputs = []
        for position in range(chunk.shape[1]):
            word = self.embed(chunk[:, position])
            hidden = torch.tanh(self.input(word) + self.recurrent(hidden))  # allocates
            outputs.append(hidden)
        return self.next_word(torch.stack(outputs, 1)), hidden


def perplexity(model, chunks, lines):
    hidden = torch.zeros(lines, 128, device="cuda")
    total, count = 0.0, 0
    for chunk in chunks:
        chunk = chunk.cuda()
        logits, hidden = model(chunk, hidden)  # keeps
        total += F.cross_entropy(logits[:, :-1].flatten(0, 1), chunk[:, 1:].flatten()).item()
        count += 1
    return total / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    chunks = (torch.randint(500, (16, 8)) for _ in range(chosen.steps))
    print(perplexity(LanguageModel().cuda(), chunks, lines=16))


if __name__ == "__main__":
    main()
