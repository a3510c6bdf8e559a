# SPDX-License-Identifier: Apache-2.0
"""Serves recommendations; the towers' answers for the items asked for last are kept."""

import argparse
import random
from collections import OrderedDict

import torch
from torch import nn


class LruCache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = OrderedDict()

    def get(self, key, make):
        if key in self.entries:
            self.entries.move_to_end(key)
            return self.entries[key]
        value = self.entries[key] = make(key)
        if len(self.entries) > self.capacity:
            self.entries.popitem(last=False)
        return value


class Recommender:
    def __init__(self, items=500, capacity=48):
        self.items = nn.Embedding(items, 128).cuda()
        self.reviews = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256)).cuda()
        self.answers = LruCache(capacity)

    def encode(self, item):
        reviews = torch.randn(40, 128).cuda()
        number = torch.tensor([item]).cuda()
        return self.reviews(reviews + self.items(number))

    def score(self, user, items):
        return torch.stack([(self.answers.get(item, self.encode) @ user).max() for item in items])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    recommender = Recommender()
    popular = [1 / (rank + 10) for rank in range(500)]
    with torch.inference_mode():
        for _ in range(args.steps):
            asked = random.choices(range(500), popular, k=4)  # step
            recommender.score(torch.randn(256).cuda(), asked).argmax()


if __name__ == "__main__":
    main()
