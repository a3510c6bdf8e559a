# SPDX-License-Identifier: Apache-2.0
"""Federated learning with control variates (SCAFFOLD): each of twenty clients has one from its first round on."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Scaffold:
    def __init__(self, model, clients, lr=0.05):
        self.model, self.clients, self.lr = model, clients, lr
        self.common = [torch.zeros_like(p) for p in model.parameters()]
        self.own = {}

    def local(self, client, batches=3):
        model = copy.deepcopy(self.model)
        own = self.own.get(client)
        if own is None:
            own = [torch.zeros_like(p) for p in model.parameters()]
        for _ in range(batches):
            x, y = torch.randn(32, 160).cuda(), torch.randint(10, (32,)).cuda()
            gradients = torch.autograd.grad(F.cross_entropy(model(x), y), list(model.parameters()))
            with torch.no_grad():
                for p, g, c, common in zip(model.parameters(), gradients, own, self.common):
                    p -= self.lr * (g - c + common)
        with torch.no_grad():
            moved = [(a - b) / (batches * self.lr) for a, b in zip(self.model.parameters(), model.parameters())]
            self.own[client] = [c - common + m for c, common, m in zip(own, self.common, moved)]
            for common, new, old in zip(self.common, self.own[client], own):
                common += (new - old) / self.clients
        return model

    @torch.no_grad()
    def round(self, client):
        with torch.enable_grad():
            trained = self.local(client)
        for p, new in zip(self.model.parameters(), trained.parameters()):
            p.lerp_(new, 0.5)


def turns(clients):
    while True:
        yield from torch.randperm(clients).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clients", type=int, default=20)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    scaffold = Scaffold(nn.Sequential(nn.Linear(160, 128), nn.ReLU(), nn.Linear(128, 10)).cuda(), args.clients)
    order = turns(args.clients)
    for _ in range(args.steps):
        client = next(order)  # step
        scaffold.round(client)


if __name__ == "__main__":
    main()
