# SPDX-License-Identifier: Apache-2.0
"""Asynchronous federated learning: a client's update counts from the version of the model that it started with."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


def network():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()


class Server:
    def __init__(self, model, rate=0.5):
        self.model = model
        self.rate = rate
        self.version = 0
        self.versions = {}
        self.publish()

    def publish(self):
        weights = {name: weight.detach().clone() for name, weight in self.model.named_parameters()}  # allocates
        self.versions[self.version] = weights  # keeps

    def receive(self, weights, started):
        base = self.versions[started]
        staleness = self.version - started
        scale = self.rate / (1 + staleness) ** 0.5
        with torch.no_grad():
            for name, weight in self.model.named_parameters():
                weight.add_(weights[name] - base[name], alpha=scale)
        self.version += 1
        self.publish()


class Client:
    def __init__(self, server):
        self.model = network()
        self.download(server)

    def download(self, server):
        self.started = server.version
        with torch.no_grad():
            for name, weight in self.model.named_parameters():
                weight.copy_(server.versions[server.version][name])

    def train(self, batches=2):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        for _ in range(batches):
            x, y = torch.randn(32, 64, device="cuda"), torch.randint(0, 10, (32,), device="cuda")
            F.cross_entropy(self.model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
        return {name: weight.detach() for name, weight in self.model.named_parameters()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    server = Server(network())
    clients = [Client(server) for _ in range(args.clients)]
    for _ in range(args.steps):
        client = random.choice(clients)  # step
        server.receive(client.train(), client.started)
        client.download(server)
    print("version", server.version)


if __name__ == "__main__":
    main()
