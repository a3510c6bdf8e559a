# SPDX-License-Identifier: Apache-2.0
"""Federated learning with control variates (SCAFFOLD): each client has one of its own from its first round on."""

import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


def zeros_like_weights(model):
    return [torch.zeros_like(weight) for weight in model.parameters()]


class Client:
    def __init__(self, number):
        self.number = number
        self.x = torch.randn(48, 32) + number / 10
        self.y = torch.randint(0, 10, (48,))
        self.control = None

    def train(self, server_model, server_control, rate=0.05, batch=16):
        if self.control is None:
            self.control = zeros_like_weights(server_model)
        model = copy.deepcopy(server_model)
        steps = 0
        for x, y in zip(self.x.split(batch), self.y.split(batch)):
            loss = F.cross_entropy(model(x.cuda()), y.cuda())
            gradients = torch.autograd.grad(loss, list(model.parameters()))
            with torch.no_grad():
                for weight, gradient, own, all_ in zip(model.parameters(), gradients, self.control, server_control):
                    weight.sub_(rate * (gradient - own + all_))
            steps += 1
        with torch.no_grad():
            moved = [before - after for before, after in zip(server_model.parameters(), model.parameters())]
            control = [own - all_ + one / (steps * rate) for own, all_, one in zip(self.control, server_control, moved)]
            change = [new - old for new, old in zip(control, self.control)]
        self.control = control
        return moved, change


def rounds(clients, per_round):
    """Everyone takes part once before anyone does again."""
    while True:
        order = torch.randperm(len(clients)).tolist()
        for start in range(0, len(order), per_round):
            yield [clients[number] for number in order[start:start + per_round]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--clients", type=int, default=45)
    parser.add_argument("--per-round", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    clients, control = [Client(number) for number in range(args.clients)], zeros_like_weights(model)
    chosen = rounds(clients, args.per_round)
    for _ in range(args.steps):
        cohort = next(chosen)  # step
        for client in cohort:
            moved, change = client.train(model, control)
            with torch.no_grad():
                for weight, all_, one, other in zip(model.parameters(), control, moved, change):
                    weight.sub_(one / args.per_round)
                    all_.add_(other / args.clients)


if __name__ == "__main__":
    main()
