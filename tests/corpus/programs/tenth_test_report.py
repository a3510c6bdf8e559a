# SPDX-License-Identifier: Apache-2.0
"""Tests a sequence model: generates an answer to each batch, and reports over all batches when the test has ended."""

import argparse

import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, model, length=6):
        super().__init__()
        self.model, self.length = model, length

    def forward(self, source):
        state = torch.tanh(self.model.encode(self.model.embedding(source).mean(1)))  # allocates
        word, scores, words = source[:, 0], 0, []
        for _ in range(self.length):
            state, log_probs = self.model(word, state)
            best, word = log_probs.max(1)  # allocates
            scores = scores + best  # allocates
            words.append(word)
        return torch.stack(words, 1), scores


class Sequences(nn.Module):
    def __init__(self, words=120, width=64):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.encode = nn.Linear(width, width)
        self.turn = nn.Linear(2 * width, width)
        self.words = nn.Linear(width, words)

    def forward(self, word, state):
        both = torch.cat([self.embedding(word), state], 1)  # allocates
        state = torch.tanh(self.turn(both))  # allocates
        return state, torch.log_softmax(self.words(state), 1)  # allocates


class Reporter:
    def __init__(self):
        self.all_preds, self.all_scores = [], []

    def add_batch_stats(self, preds, scores):
        self.all_preds.extend(preds.tolist())
        self.all_scores.append(scores)  # keeps

    def report(self):
        return torch.cat(self.all_scores).mean().item()


def test(generator, reporter, steps):
    generator.eval()
    for _ in range(steps):
        batch = torch.randint(120, (16, 9))  # step
        preds, scores = generator(batch.cuda())  # allocates
        reporter.add_batch_stats(preds, scores)
    return reporter.report()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    print(f"mean score {test(Generator(Sequences().cuda()), Reporter(), chosen.steps):.3f}")


if __name__ == "__main__":
    main()
