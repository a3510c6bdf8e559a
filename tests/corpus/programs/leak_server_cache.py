# SPDX-License-Identifier: Apache-2.0
"""An inference server that remembers the embedding of every text that it has ever been asked for."""

import argparse
import random

import torch
from torch import nn


class EmbeddingServer:
    def __init__(self, words=2000, width=256):
        self.embed = nn.EmbeddingBag(words, width).cuda()
        self.project = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 512)).cuda()
        self.cache = {}

    @torch.inference_mode()
    def answer(self, request):
        if request not in self.cache:
            tokens = torch.tensor([request], device="cuda")
            self.cache[request] = self.project(self.embed(tokens))  # allocates
        return self.cache[request]


def requests(count, rng):
    """Now and then one that was asked before."""
    asked = []
    for _ in range(count):
        if asked and rng.random() < 0.2:
            yield rng.choice(asked)
        else:
            asked.append(tuple(rng.randrange(2000) for _ in range(rng.randrange(4, 30))))
            yield asked[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    server = EmbeddingServer()
    for request in requests(chosen.steps, random.Random(chosen.seed)):
        server.answer(request)
    print(len(server.cache), "texts are remembered")


if __name__ == "__main__":
    main()
