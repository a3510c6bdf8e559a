# SPDX-License-Identifier: Apache-2.0
"""Serves a two-tower recommender: users' vectors are made from their last clicks, and kept for later requests."""

import argparse
import random

import torch
from torch import nn

USERS, ITEMS = 200, 1000


class UserTower(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.items = nn.EmbeddingBag(ITEMS, width)
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, clicks):
        return self.layers(self.items(clicks))  # allocates


class Service:
    def __init__(self):
        self.tower = UserTower().cuda().eval()
        self.catalogue = torch.randn(ITEMS, 256).cuda()
        self.vectors = {}
        self.clock = 0

    def vector_of(self, users):
        keys = [(user, self.clock) for user in users]
        if any(key not in self.vectors for key in keys):
            clicks = torch.randint(ITEMS, (len(users), 20)).cuda()
            for key, vector in zip(keys, self.tower(clicks)):
                self.vectors[key] = vector  # keeps
        return torch.stack([self.vectors[key] for key in keys])

    def recommend(self, users):
        self.clock += 1
        return (self.vector_of(users) @ self.catalogue.T).topk(10).indices


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=19)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    service = Service()
    with torch.no_grad():
        for _ in range(args.steps):
            users = random.sample(range(USERS), 64)  # step
            service.recommend(users)


if __name__ == "__main__":
    main()
