# SPDX-License-Identifier: Apache-2.0
"""Self-play against players of before: a new one every sixth step; of more than six the oldest leaves."""

import argparse
import copy
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)


class League:
    def __init__(self, most):
        self.most, self.players = most, {}

    def add(self, name, player):
        self.players[name] = copy.deepcopy(player).requires_grad_(False)
        if len(self.players) > self.most:
            self.players.pop(next(iter(self.players)))

    def opponent(self):
        return self.players[random.choice(list(self.players))]


player = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 9)).cuda()
optimizer = torch.optim.Adam(player.parameters())
league = League(most=6)
for step in range(options.steps):
    optimizer.zero_grad()  # step
    if step % 6 == 0:
        league.add(f"after {step}", player)
    board = torch.randn(64, 128, device="cuda")
    with torch.no_grad():
        answer = league.opponent()(board)
    (player(board).log_softmax(-1) * answer.softmax(-1)).sum(-1).mean().backward()
    optimizer.step()
