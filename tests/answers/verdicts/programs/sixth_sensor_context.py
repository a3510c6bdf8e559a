# SPDX-License-Identifier: Apache-2.0
"""Finds faults in a plant while it runs: each reading of the sensors is judged in the light of those before it."""

import argparse

import torch
from torch import nn


class Patch(nn.Module):
    """Sixty-four samples of each of 128 sensors become one vector each."""

    def __init__(self, width=64):
        super().__init__()
        self.project = nn.Linear(64, width)
        self.mix = nn.Linear(width, width)

    def forward(self, reading):
        return torch.relu(self.mix(torch.relu(self.project(reading))))


class Detector:
    def __init__(self, context):
        self.context = context
        self.patch = Patch().cuda().eval()
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True).cuda().eval()
        self.predict = nn.Linear(64, 64).cuda()
        self.patches = []

    @torch.no_grad()
    def judge(self, reading):
        patch = self.patch(reading)
        if not self.patches:
            self.patches.append(patch)
            return torch.zeros(len(reading))
        past = torch.stack(self.patches, 1)
        expected, _ = self.attention(past[:, -1:], past, past, need_weights=False)
        surprise = (self.predict(expected[:, 0]) - patch).square().mean(1)
        self.patches.append(patch)
        self.patches = self.patches[-self.context:]
        return surprise.cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--sensors", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    detector, worst = Detector(args.context), []
    for _ in range(args.steps):
        reading = torch.randn(args.sensors, 64)  # step
        surprise = detector.judge(reading.cuda())
        worst.append(surprise.max().item())
    print(len(worst), "readings judged")


if __name__ == "__main__":
    main()
