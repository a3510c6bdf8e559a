# SPDX-License-Identifier: Apache-2.0
"""Federated averaging: each round two clients train a copy of the server's model."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Client:
    def __init__(self, name, model, lr=0.05):
        self.name = name
        self.model = copy.deepcopy(model)  # allocates
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)

    def train(self, batches):
        for _ in range(batches):
            x, y = torch.randn(32, 128).cuda(), torch.randint(10, (32,)).cuda()
            self.optimizer.zero_grad()
            F.cross_entropy(self.model(x), y).backward()  # allocates
            self.optimizer.step()  # allocates
        return self.model.state_dict()


class Server:
    def __init__(self, model):
        self.model = model
        self.clients = []

    def round(self, number, count=2):
        selected = [Client(f"round{number}-{k}", self.model) for k in range(count)]
        self.clients.extend(selected)  # keeps
        states = [client.train(batches=2) for client in selected]
        mean = {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}
        self.model.load_state_dict(mean)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    server = Server(nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)).cuda())
    for number in range(args.steps):
        server.round(number)  # step
        print(number, len(server.clients), "clients so far")


if __name__ == "__main__":
    main()
