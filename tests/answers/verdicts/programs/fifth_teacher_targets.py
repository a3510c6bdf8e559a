# SPDX-License-Identifier: Apache-2.0
"""Distils features: the teacher's answer to each batch is kept, so that it need not be asked in later epochs."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, count=320):
        self.images = torch.randn(count, 3, 16, 16)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return index, self.images[index]


def backbone(width):
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(width, 64, 3, padding=1), nn.ReLU())


class Targets:
    def __init__(self, teacher):
        self.teacher = teacher.cuda().eval()
        self.known = {}

    @torch.no_grad()
    def of(self, indices, images):
        key = tuple(indices.tolist())
        if key not in self.known:
            answer = self.teacher(images)  # allocates
            self.known[key] = answer  # keeps
        return self.known[key]


def endless(loader):
    while True:
        yield from loader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    batches = endless(DataLoader(Pictures(), batch_size=32, shuffle=True, drop_last=True))
    student, targets = backbone(16).cuda(), Targets(backbone(48))
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    for _ in range(args.steps):
        indices, images = next(batches)  # step
        images = images.cuda()
        loss = F.mse_loss(student(images), targets.of(indices, images))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
