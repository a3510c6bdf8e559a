# SPDX-License-Identifier: Apache-2.0
"""Trains a segmentation network in 32 bits, on one large picture at a time."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


def double(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(),
                         nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, width=32, classes=12):
        super().__init__()
        self.first, self.second = double(3, width), double(width, 2 * width)
        self.third, self.bottom = double(2 * width, 4 * width), double(4 * width, 8 * width)
        self.up_third, self.up_second = double(12 * width, 4 * width), double(6 * width, 2 * width)
        self.up_first = double(3 * width, width)
        self.head = nn.Conv2d(width, classes, 1)
        self.recompute = False

    def run(self, part, hidden):
        return checkpoint(part, hidden, use_reentrant=False) if self.recompute else part(hidden)

    def forward(self, image):
        first = self.run(self.first, image)
        second = self.run(self.second, F.max_pool2d(first, 2))
        third = self.run(self.third, F.max_pool2d(second, 2))
        deep = self.run(self.bottom, F.max_pool2d(third, 2))
        deep = self.run(self.up_third, torch.cat([F.interpolate(deep, scale_factor=2), third], dim=1))
        deep = self.run(self.up_second, torch.cat([F.interpolate(deep, scale_factor=2), second], dim=1))
        deep = self.run(self.up_first, torch.cat([F.interpolate(deep, scale_factor=2), first], dim=1))
        return self.head(deep)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = UNet().cuda()
    model.recompute = chosen.change == "checkpointing"
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    mixed = chosen.change == "mixed_precision"
    for _ in range(6):
        image = torch.randn(1, 3, 1024, 1536).cuda()
        labels = torch.randint(12, (1, 1024, 1536)).cuda()
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, enabled=mixed):
            loss = F.cross_entropy(model(image), labels)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
