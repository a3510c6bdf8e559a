# SPDX-License-Identifier: Apache-2.0
"""Scores tagged sentences under a tagger with a conditional random field, and prints the mean likelihood."""

import argparse

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words=400, tags=12):
        super().__init__()
        self.embedding = nn.Embedding(words, 64)
        self.hidden = nn.Linear(64, 96)
        self.emission = nn.Linear(96, tags)
        self.transitions = nn.Parameter(torch.randn(tags, tags))

    def emissions(self, words):
        vectors = self.embedding(words)  # allocates
        hidden = torch.tanh(self.hidden(vectors))  # allocates
        return self.emission(hidden)

    def partition(self, emissions):
        alpha = emissions[:, 0]
        for position in range(1, emissions.shape[1]):
            scores = alpha.unsqueeze(2) + self.transitions + emissions[:, position].unsqueeze(1)  # allocates
            alpha = torch.logsumexp(scores, 1)  # allocates
        return torch.logsumexp(alpha, 1)  # allocates

    def path(self, emissions, tags):
        emitted = emissions.gather(2, tags.unsqueeze(2)).sum((1, 2))
        return emitted + self.transitions[tags[:, :-1], tags[:, 1:]].sum(1)

    def neg_log_likelihood(self, words, tags):
        emissions = self.emissions(words)
        return (self.partition(emissions) - self.path(emissions, tags)).sum()


def sentences(batch=16, length=8):
    words = torch.randint(400, (batch, length), device="cuda")  # allocates
    tags = torch.randint(12, (batch, length), device="cuda")  # allocates
    return words, tags


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Tagger().cuda()
    sum_log_likelihood = 0
    for _ in range(chosen.steps):
        words, tags = sentences()  # step
        neg_log_likelihood = model.neg_log_likelihood(words, tags)
        sum_log_likelihood += neg_log_likelihood  # keeps
    print(f"mean {sum_log_likelihood.item() / (16 * chosen.steps):.3f}")


if __name__ == "__main__":
    main()
