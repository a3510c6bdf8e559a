# SPDX-License-Identifier: Apache-2.0
"""Image search: a method remembers the features of pictures that it has been asked for."""

import argparse
import functools

import torch
from torch import nn


class Index:
    def __init__(self, pictures=300):
        self.network = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
                                     nn.Flatten(), nn.Linear(256, 128)).cuda().eval()
        self.stored = torch.randn(pictures, 128).cuda()

    @functools.lru_cache(maxsize=None)  # keeps
    def features(self, images):
        return nn.functional.normalize(self.network(images), dim=1)

    def search(self, images, count=5):
        return (self.features(images) @ self.stored.T).topk(count).indices


def answer(index, query):
    images = query.cuda()  # allocates
    return index.search(images)


def queries(count):
    for _ in range(count):
        yield torch.rand(16, 3, 32, 32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    index = Index()
    with torch.no_grad():
        for query in queries(args.steps):
            found = answer(index, query)  # step
            print(tuple(found.shape))


if __name__ == "__main__":
    main()
