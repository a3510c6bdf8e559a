# SPDX-License-Identifier: Apache-2.0
"""A critic with a penalty on its slopes takes three steps for each one of the painter."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=26)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)

painter = nn.Sequential(nn.Linear(100, 512), nn.ReLU(), nn.Linear(512, 2048)).cuda()
critic = nn.Sequential(nn.Linear(2048, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1)).cuda()
paints = torch.optim.Adam(painter.parameters(), betas=(0.0, 0.9))
judges = torch.optim.Adam(critic.parameters(), betas=(0.0, 0.9))


def penalty(real, fake):
    share = torch.rand(len(real), 1, device="cuda")
    between = (share * real + (1 - share) * fake).requires_grad_()
    slopes, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (slopes.norm(2, 1) - 1).square().mean()


def judge():
    real = torch.randn(256, 2048, device="cuda")
    fake = painter(torch.randn(256, 100, device="cuda")).detach()
    judges.zero_grad()
    (critic(fake).mean() - critic(real).mean() + 10 * penalty(real, fake)).backward()
    judges.step()


for step in range(options.steps):
    kind = "painter" if step % 4 == 3 else "critic"  # step
    if kind == "critic":
        judge()
    else:
        judges.zero_grad()
        paints.zero_grad()
        fake = painter(torch.randn(256, 100, device="cuda"))
        (-critic(fake).mean()).backward()
        paints.step()
