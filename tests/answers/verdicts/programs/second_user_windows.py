# SPDX-License-Identifier: Apache-2.0
"""A window of the last four embeddings for each user: each window is bounded, the number of users is not."""

import argparse
from collections import defaultdict, deque

import torch
from torch import nn
from torch.nn import functional as F


class Ranker(nn.Module):
    def __init__(self, items=500, width=1024):
        super().__init__()
        self.item = nn.EmbeddingBag(items, width, mode="mean")
        self.score = nn.Linear(width, items)
        self.windows = defaultdict(lambda: deque(maxlen=4))

    def forward(self, users, clicked):
        vectors = self.item(clicked)
        for user, vector in zip(users, vectors.detach()):
            window = self.windows[user]
            copy = vector.clone()  # allocates
            window.append(copy)  # keeps
        drift = torch.stack([torch.stack(list(self.windows[user])).mean(0) for user in users])
        return self.score(vectors + 0.1 * drift)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=38)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    ranker = Ranker().cuda()
    optimizer = torch.optim.Adagrad(ranker.parameters(), lr=0.05)
    for step in range(args.steps):
        users = range(6 * step, 6 * step + 6)  # step
        clicked, bought = torch.randint(500, (6, 10)).cuda(), torch.randint(500, (6,)).cuda()
        loss = F.cross_entropy(ranker(users, clicked), bought)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{len(ranker.windows)} users")


if __name__ == "__main__":
    main()
