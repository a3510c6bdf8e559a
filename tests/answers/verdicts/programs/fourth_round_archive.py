# SPDX-License-Identifier: Apache-2.0
"""Federated averaging, three clients a round; the server keeps a round's updates until they are averaged."""

import argparse
import copy

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=27)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
CLIENTS = 3


class Server:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
        self.rounds = {}

    def receive(self, number, update):
        self.rounds.setdefault(number, []).append(update)  # keeps

    @torch.no_grad()
    def average(self, number):
        updates = self.rounds[number]
        for name, parameter in self.model.named_parameters():
            parameter += sum(update[name] for update in updates) / len(updates)


def train_client(model):
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        x = torch.randn(32, 128, device="cuda")
        optimizer.zero_grad()
        model(x).logsumexp(1).mean().backward()
        optimizer.step()
    return {name: parameter.detach() - before[name] for name, parameter in model.named_parameters()}  # allocates


server = Server()
for step in range(options.steps):
    number, client = divmod(step, CLIENTS)  # step
    server.receive(number, train_client(copy.deepcopy(server.model)))
    if client == CLIENTS - 1:
        server.average(number)
