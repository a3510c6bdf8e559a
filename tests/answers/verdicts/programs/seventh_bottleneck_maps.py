# SPDX-License-Identifier: Apache-2.0
"""Trains a network for volumes and looks at the mean map of its bottleneck after each step."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class VolumeNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down = nn.Conv3d(1, width, 3, stride=2, padding=1)
        self.bottleneck = nn.Conv3d(width, 2 * width, 3, padding=1)
        self.up = nn.ConvTranspose3d(2 * width, 2, 2, stride=2)

    def forward(self, volumes):
        hidden = F.relu(self.down(volumes))
        return self.up(F.relu(self.bottleneck(hidden)))


class ActivationProbe:
    """Notes the mean over the channels of what a module returns."""

    def __init__(self, module):
        self.maps = {}
        module.register_forward_hook(self.note)  # keeps

    def note(self, module, inputs, output):
        self.maps["mean"] = output.detach().mean(1)  # allocates


@torch.no_grad()
def focus(model, volumes):
    """How much of the bottleneck's activity lies in the volume's middle half."""
    probe = ActivationProbe(model.bottleneck)
    model(volumes)
    found = probe.maps["mean"].abs()
    return (found[:, 3:9, 3:9, 3:9].sum() / found.sum().clamp(min=1e-6)).item()


def dice_loss(logits, masks):
    inside = logits.softmax(1)[:, 1]
    shared = (inside * masks).sum((1, 2, 3))
    return 1 - (2 * shared / (inside.sum((1, 2, 3)) + masks.sum((1, 2, 3)) + 1)).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = VolumeNet().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    shares = []
    for _ in range(chosen.steps):
        volumes = torch.randn(2, 1, 24, 24, 24, device="cuda")  # step
        masks = (volumes[:, 0] > 0.5).float()
        optimizer.zero_grad()
        loss = dice_loss(model(volumes), masks)
        loss.backward()
        optimizer.step()
        shares.append(focus(model, volumes))
    print(f"loss {loss.item():.3f}, in the middle {shares[0]:.2f} at first, {shares[-1]:.2f} at last")


if __name__ == "__main__":
    main()
