# SPDX-License-Identifier: Apache-2.0
"""SCAFFOLD: each of sixteen clients has a control variate and Adam's moments, made when it first takes part."""

import argparse

import torch
from torch import nn


class Client:
    def __init__(self, model, number):
        self.control = {name: torch.zeros_like(one) for name, one in model.named_parameters()}
        self.moments, self.number = {name: torch.zeros_like(one) for name, one in model.named_parameters()}, number

    def train(self, model, center, rate=0.05):
        rows = torch.randn(32, 120, device="cuda") + 0.1 * self.number
        model.zero_grad()
        model(rows).square().mean().backward()
        with torch.no_grad():
            for name, one in model.named_parameters():
                slope = one.grad - self.control[name] + center[name]
                self.moments[name].mul_(0.9).add_(slope)
                one -= rate * self.moments[name]
                self.control[name].lerp_(one.grad, 0.1)
                center[name].lerp_(self.control[name], 1 / 16)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(120, 200), nn.Tanh(), nn.Linear(200, 40)).cuda()
    center = {name: torch.zeros_like(one) for name, one in model.named_parameters()}
    clients = {}
    for turn in range(args.steps):
        number = (turn * 5 + turn // 6) % 16  # step
        if number not in clients:
            clients[number] = Client(model, number)
        clients[number].train(model, center)
    print(f"{len(clients)} clients took part")


if __name__ == "__main__":
    main()
