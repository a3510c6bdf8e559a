# SPDX-License-Identifier: Apache-2.0
"""A diffusion model learns from larger pictures every ninth step, up to 48 by 48."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=54)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
SIDES = {0: 16, 9: 24, 18: 32, 27: 40, 36: 48}


class Stage:
    def __init__(self):
        self.side = None

    def at(self, step):
        self.side = SIDES.get(step, self.side)
        return self.side


net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.SiLU(), nn.Conv2d(32, 3, 3, padding=1)).cuda()
optimizer = torch.optim.AdamW(net.parameters())
stage = Stage()
for step in range(options.steps):
    side = stage.at(step)  # step
    clean = torch.randn(32, 3, side, side, device="cuda")
    noise = torch.randn_like(clean)
    guess = net(0.6 * clean + 0.8 * noise)
    optimizer.zero_grad()
    (guess - noise).square().mean().backward()
    optimizer.step()
