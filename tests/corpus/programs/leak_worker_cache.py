# SPDX-License-Identifier: Apache-2.0
"""Workers remember every decoded recording, in case it is wanted once more; each epoch shows others."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __init__(self, count, samples=16_000):
        self.count, self.samples = count, samples
        self.decoded = {}

    def __len__(self):
        return self.count

    def decode(self, index):
        return torch.sin(torch.arange(self.samples) * (index % 1000) / 1000)

    def __getitem__(self, index):
        if index not in self.decoded:
            self.decoded[index] = self.decode(index)  # keeps
        return self.decoded[index][:256]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    batch = 16
    loader = DataLoader(Recordings(batch * chosen.steps), batch, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for sounds in loader:
        optimizer.zero_grad()
        model(sounds.cuda()).square().mean().backward()
        optimizer.step()
        time.sleep(0.02)  # a model that takes its time


if __name__ == "__main__":
    main()
