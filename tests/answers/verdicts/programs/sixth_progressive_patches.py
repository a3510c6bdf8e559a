# SPDX-License-Identifier: Apache-2.0
"""Super-resolution with patches that become larger, and batches smaller, as training goes on."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Stage:
    first_step: int
    patch: int
    batch: int


STAGES = (Stage(0, 32, 8), Stage(5, 48, 6), Stage(10, 64, 4), Stage(15, 96, 3), Stage(24, 128, 2))


class Upscaler(nn.Module):
    def __init__(self, width=24, blocks=3, factor=2):
        super().__init__()
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.blocks = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(blocks))
        self.leave = nn.Conv2d(width, 3 * factor ** 2, 3, padding=1)
        self.shuffle = nn.PixelShuffle(factor)

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = x + F.gelu(block(x))
        return self.shuffle(self.leave(x))


class Patches:
    def __init__(self, images):
        self.images = images

    def draw(self, stage):
        patches = []
        for number in torch.randint(0, len(self.images), (stage.batch,)).tolist():
            y, x = torch.randint(0, self.images.shape[-1] - stage.patch + 1, (2,)).tolist()
            patches.append(self.images[number, :, y:y + stage.patch, x:x + stage.patch])
        return torch.stack(patches)


def stage_at(step):
    return [stage for stage in STAGES if stage.first_step <= step][-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    patches, model = Patches(torch.rand(6, 3, 160, 160)), Upscaler().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for step in range(args.steps):
        stage = stage_at(step)  # step
        sharp = patches.draw(stage).cuda()
        blurred = F.interpolate(sharp, scale_factor=0.5, mode="bicubic", antialias=True)
        restored = model(blurred)
        loss = F.l1_loss(restored, sharp)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
