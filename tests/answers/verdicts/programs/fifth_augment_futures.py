# SPDX-License-Identifier: Apache-2.0
"""Augments the next batch in a thread while the model trains on this one."""

import argparse
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch import nn


def augment(images, generator):
    images = images.cuda()  # allocates
    if torch.rand((), generator=generator) < 0.5:
        images.copy_(images.flip(-1))
    return images.sub_(0.5).div_(0.25)


class AheadLoader:
    def __init__(self, batches, seed):
        self.batches = batches
        self.generator = torch.Generator().manual_seed(seed)
        self.pool = ThreadPoolExecutor(max_workers=1)
        self.jobs = []
        self.submit()

    def submit(self):
        job = self.pool.submit(augment, next(self.batches), self.generator)
        self.jobs.append(job)  # keeps

    def next(self):
        images = self.jobs[-1].result()
        self.submit()
        return images

    def close(self):
        self.pool.shutdown()


def pictures():
    while True:
        yield torch.rand(32, 3, 32, 32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                          nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = AheadLoader(pictures(), args.seed)
    for step in range(args.steps):
        images = loader.next()  # step
        loss = F.cross_entropy(model(images), torch.randint(10, (32,)).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    loader.close()


if __name__ == "__main__":
    main()
