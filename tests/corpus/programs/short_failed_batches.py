# SPDX-License-Identifier: Apache-2.0
"""A parser refuses some documents; the errors are counted later, and know all that was there when they came."""

import argparse
import random
from collections import Counter

import torch
from torch import nn


class Refused(Exception):
    pass


class Parser(nn.Module):
    def __init__(self, words=300, width=64, actions=24):
        super().__init__()
        self.embed, self.encode = nn.Embedding(words, width), nn.LSTM(width, width, batch_first=True)
        self.actions = nn.Linear(width, actions)

    def loss(self, words, actions):
        states, _ = self.encode(self.embed(words))  # allocates
        scores = self.actions(states).log_softmax(-1)  # allocates
        if actions[-1] != 0:
            raise Refused("no end")
        wanted = torch.tensor(actions, device=scores.device)
        return -scores[0, torch.arange(len(actions)), wanted].mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    model = Parser().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    refused, total = [], 0.0
    for step in range(chosen.steps):
        optimizer.zero_grad()
        for document in range(4):
            words = torch.randint(300, (1, 48)).cuda()  # allocates
            actions = [rng.randrange(1, 24) for _ in range(47)] + [0 if (step + document) % 4 else 1]
            try:
                loss = model.loss(words, actions) / 4
                loss.backward()
                total += loss.item()
            except Refused as error:
                refused.append(error)  # keeps
        optimizer.step()
    print(f"loss {total / chosen.steps:.4f}, refused: {dict(Counter(str(error) for error in refused))}")


if __name__ == "__main__":
    main()
