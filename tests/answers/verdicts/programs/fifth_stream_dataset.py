# SPDX-License-Identifier: Apache-2.0
"""Reads clips from a camera that never stops; decoded clips are kept by their number."""

import argparse
import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Camera(IterableDataset):
    def __init__(self, size=32):
        self.size = size
        self.decoded = {}

    def clip(self, number):
        if number not in self.decoded:
            raw = torch.randint(256, (3, self.size, self.size), dtype=torch.uint8)
            pixels = raw.cuda().float()  # allocates
            self.decoded[number] = pixels.div_(255)  # keeps
        return self.decoded[number]

    def __iter__(self):
        for number in itertools.count():
            yield self.clip(number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=58)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
                          nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Camera(), batch_size=8)
    for step, clips in zip(range(args.steps), loader):
        noisy = clips + 0.1 * torch.randn_like(clips)  # step
        loss = F.mse_loss(model(noisy), clips)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
