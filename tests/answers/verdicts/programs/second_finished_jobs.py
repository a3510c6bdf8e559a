# SPDX-License-Identifier: Apache-2.0
"""A pool of threads prepares pictures on the GPU; the list of jobs is for a count, and a job keeps its result."""

import argparse
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.nn import functional as F


def prepare(seed, size=28):
    pictures = torch.rand(24, 3, size, size, generator=torch.Generator().manual_seed(seed)).cuda()
    bright = pictures.mean((2, 3), keepdim=True)
    return (pictures - bright) / (bright + 0.1)  # allocates


class Feeder:
    def __init__(self, threads=2):
        self.pool, self.jobs = ThreadPoolExecutor(threads), []

    def ask(self, seed):
        job = self.pool.submit(prepare, seed)
        self.jobs.append(job)  # keeps
        return job

    def done(self):
        return sum(job.done() for job in self.jobs)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return F.relu(x + self.body(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), Residual(16), Residual(16),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    feeder = Feeder()
    coming = feeder.ask(0)
    for step in range(chosen.steps):
        pictures = coming.result()  # step
        coming = feeder.ask(step + 1)
        loss = F.cross_entropy(model(pictures), torch.randint(10, (24,)).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    coming.result()
    print(f"{feeder.done()} jobs done")


if __name__ == "__main__":
    main()
