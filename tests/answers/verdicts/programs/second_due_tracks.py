# SPDX-License-Identifier: Apache-2.0
"""Things in a video are remembered for three to nine pictures, as each is worth; a heap says whose time is over."""

import argparse
import heapq
import random

import torch
from torch import nn


class Memory:
    def __init__(self):
        self.due, self.features = [], {}

    def add(self, name, feature, until):
        self.features[name] = feature
        heapq.heappush(self.due, (until, name))

    def forget(self, now):
        while self.due and self.due[0][0] <= now:
            del self.features[heapq.heappop(self.due)[1]]


@torch.inference_mode()
def watch(net, memory, rng, steps):
    for now in range(steps):
        memory.forget(now)  # step
        for number, crop in enumerate(torch.rand(10, 3, 16, 16).cuda()):
            feature = net(crop[None])[0].clone()
            memory.add((now, number), feature, now + rng.randint(3, 9))
        known = torch.stack(list(memory.features.values()))
        known.mean(0).cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=33)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 512)).cuda().eval()
    memory = Memory()
    watch(net, memory, random.Random(args.seed), args.steps)
    print(f"{len(memory.features)} things known")


if __name__ == "__main__":
    main()
