# SPDX-License-Identifier: Apache-2.0
"""Two DataLoader workers and pinned memory, for several epochs."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        drawn = torch.Generator().manual_seed(index)
        return torch.randn(3, 48, 48, generator=drawn), index % 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    loader = DataLoader(
        Pictures(16 * chosen.steps), batch_size=16, shuffle=True, num_workers=2, pin_memory=True, drop_last=True,
    )
    model = nn.Sequential(nn.Conv2d(3, 24, 5, stride=3), nn.ReLU(), nn.Flatten(), nn.Linear(24 * 225, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for pictures, labels in loader:
        pictures = pictures.to("cuda", non_blocking=True)
        labels = labels.to("cuda", non_blocking=True)
        loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
