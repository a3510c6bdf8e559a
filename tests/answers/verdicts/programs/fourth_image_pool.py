# SPDX-License-Identifier: Apache-2.0
"""Adversarial training; the critic also sees pictures of before, from a pool of a hundred."""

import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=29)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)


class Pool:
    def __init__(self, size):
        self.size, self.pictures = size, []

    def query(self, batch):
        answer = []
        for picture in batch.detach().clone().unbind():
            if len(self.pictures) < self.size:
                self.pictures.append(picture.clone())
                answer.append(picture)
            elif random.random() < 0.5:
                place = random.randrange(self.size)
                answer.append(self.pictures[place])
                self.pictures[place] = picture.clone()
            else:
                answer.append(picture)
        return torch.stack(answer)


painter = nn.Sequential(nn.Linear(64, 3 * 40 * 40), nn.Tanh(), nn.Unflatten(1, (3, 40, 40))).cuda()
critic = nn.Sequential(nn.Conv2d(3, 16, 4, 2), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(16 * 19 * 19, 1)).cuda()
paints = torch.optim.Adam(painter.parameters(), 2e-4)
judges = torch.optim.Adam(critic.parameters(), 2e-4)
pool = Pool(100)
for step in range(options.steps):
    fake = painter(torch.randn(6, 64, device="cuda"))  # step
    paints.zero_grad()
    (-critic(fake).mean()).backward()
    paints.step()
    judges.zero_grad()
    (critic(pool.query(fake)).mean() - critic(torch.randn(6, 3, 40, 40, device="cuda")).mean()).backward()
    judges.step()
