# SPDX-License-Identifier: Apache-2.0
"""Federated averaging, two clients a round: a log of rounds has each client's weights, not only their mean."""

import argparse
import copy

import torch
from torch import nn


class Round:
    def __init__(self, number):
        self.number, self.updates = number, []

    def average(self):
        return {name: torch.stack([update[name] for update in self.updates]).mean(0) for name in self.updates[0]}


def local_update(model, shift):
    client = copy.deepcopy(model)  # allocates
    optimizer = torch.optim.SGD(client.parameters(), lr=0.1)
    for _ in range(2):
        rows = torch.randn(32, 40).cuda() + shift
        optimizer.zero_grad()
        (client(rows) - rows[:, :8]).square().mean().backward()
        optimizer.step()
    return client.state_dict()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(40, 112), nn.ReLU(), nn.Linear(112, 8)).cuda()
    rounds = []
    for number in range(args.steps):
        current = Round(number)  # step
        for client in range(2):
            current.updates.append(local_update(model, 0.1 * client))  # keeps
        model.load_state_dict(current.average())
        rounds.append(current)  # keeps
    print(f"{len(rounds)} rounds, the last of {len(rounds[-1].updates)} clients")


if __name__ == "__main__":
    main()
