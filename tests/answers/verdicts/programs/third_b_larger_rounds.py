# SPDX-License-Identifier: Apache-2.0
"""Federated rounds of four, six, eight … up to twelve clients, a client a step: what they changed waits for the round's
end, and goes with it."""

import argparse
import copy

import torch
from torch import nn


class Server:
    def __init__(self, model, first=4, most=12):
        self.model, self.size, self.most = model, first, most
        self.changes = []

    def collect(self, client):
        ours = self.model.state_dict()
        self.changes.append({name: one - ours[name] for name, one in client.state_dict().items()})  # fills
        if len(self.changes) == self.size:
            for name, one in ours.items():
                one += torch.stack([change[name] for change in self.changes]).mean(0)
            self.changes = []
            self.size = min(self.size + 2, self.most)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=47)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    server = Server(nn.Sequential(nn.Linear(60, 200), nn.ReLU(), nn.Linear(200, 20)).cuda())
    for _ in range(args.steps):
        client = copy.deepcopy(server.model)  # step
        optimizer = torch.optim.SGD(client.parameters(), lr=0.05)
        client(torch.randn(40, 60).cuda()).logsumexp(1).mean().backward()
        optimizer.step()
        server.collect(client)
    print(f"rounds of {server.size}, {len(server.changes)} clients of the next")


if __name__ == "__main__":
    main()
