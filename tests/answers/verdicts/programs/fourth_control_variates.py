# SPDX-License-Identifier: Apache-2.0
"""Federated learning of sixteen clients, each with a correction of its own; four make a round."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=28)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
CLIENTS, ROUND = 16, 4


class Federation:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
        self.corrections = {}
        self.received = []

    def train(self, client):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        optimizer.zero_grad()
        self.model(torch.randn(64, 64, device="cuda")).logsumexp(1).mean().backward()
        own = self.corrections.get(client)
        slopes = [parameter.grad.clone() for parameter in self.model.parameters()]
        if own is not None:
            slopes = [slope - part for slope, part in zip(slopes, own)]
        self.corrections[client] = [0.5 * slope for slope in slopes]
        self.received.append(slopes)

    @torch.no_grad()
    def end_round(self):
        for parameter, *slopes in zip(self.model.parameters(), *self.received):
            parameter -= 0.1 * sum(slopes) / len(slopes)
        self.received.clear()


federation = Federation()
for step in range(options.steps):
    federation.train(step % CLIENTS)  # step
    if step % ROUND == ROUND - 1:
        federation.end_round()
