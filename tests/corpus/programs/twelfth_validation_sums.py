# SPDX-License-Identifier: Apache-2.0
"""Trains a network that doubles the resolution of images for an epoch, then validates it image by image."""

import argparse

import torch
from torch import nn
from torch.nn import functional


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.block1 = nn.Conv2d(3, 8, 3, padding=1)
        self.prelu = nn.PReLU()
        self.block2 = nn.Conv2d(8, 12, 3, padding=1)

    def forward(self, images):
        hidden = self.block1(images)  # allocates
        hidden = self.prelu(hidden)  # allocates
        return functional.pixel_shuffle(self.block2(hidden), 2)


def train(net, batches):
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(batches):
        high = torch.rand(4, 3, 64, 64).cuda()
        net.zero_grad()
        loss = (net(functional.avg_pool2d(high, 2)) - high).abs().mean()
        loss.backward()
        optimizer.step()


def pair():
    """An image of low resolution and what it was made of."""
    high = torch.rand(1, 3, 64, 64)
    return functional.avg_pool2d(high, 2).cuda(), high.cuda()  # allocates


def validate(net, images):
    net.eval()
    valing_results = {"mse": 0, "batch_sizes": 0}
    for _ in range(images):
        low, high = pair()  # step
        batch_size = low.size(0)
        valing_results["batch_sizes"] += batch_size
        restored = net(low)
        batch_mse = ((restored - high) ** 2).mean()  # allocates
        valing_results["mse"] += batch_mse * batch_size  # keeps
    return valing_results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18, help="images to validate with")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    net = Generator().cuda()
    train(net, 4)
    results = validate(net, chosen.steps)
    print(f"mean squared error {(results['mse'] / results['batch_sizes']).item():.4f}")


if __name__ == "__main__":
    main()
