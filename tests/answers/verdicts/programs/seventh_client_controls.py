# SPDX-License-Identifier: Apache-2.0
"""Federated learning with control variates: each hospital corrects its gradients by how it drifts from the others."""

import argparse
import random

import torch
from torch import nn

HOSPITALS = 30


class Hospital:
    def __init__(self, number):
        self.number = number
        self.x = torch.randn(20, 30) + 0.1 * number
        self.y = torch.randn(20, 1)

    def gradients(self, model):
        model.zero_grad()
        nn.functional.mse_loss(model(self.x.cuda()), self.y.cuda()).backward()
        return [parameter.grad for parameter in model.parameters()]


class Federation:
    def __init__(self, model, rate=0.05, local_moves=3):
        self.model, self.rate, self.local_moves = model, rate, local_moves
        self.controls = {}
        self.common = [torch.zeros_like(parameter) for parameter in model.parameters()]

    @property
    def weights(self):
        return [parameter.detach().clone() for parameter in self.model.parameters()]

    @torch.no_grad()
    def put(self, weights):
        for parameter, weight in zip(self.model.parameters(), weights):
            parameter.copy_(weight)

    def control_of(self, hospital):
        if hospital.number not in self.controls:
            self.controls[hospital.number] = [torch.zeros_like(part) for part in self.common]
        return self.controls[hospital.number]

    def visit(self, hospital):
        before, own = self.weights, self.control_of(hospital)
        for _ in range(self.local_moves):
            slopes = hospital.gradients(self.model)
            with torch.no_grad():
                for parameter, slope, mine, all_ in zip(self.model.parameters(), slopes, own, self.common):
                    parameter.sub_(self.rate * (slope - mine + all_))
        after = self.weights
        for old, new, mine, all_ in zip(before, after, own, self.common):
            drift = (old - new) / (self.local_moves * self.rate) - all_
            all_.add_(drift, alpha=1 / HOSPITALS)
            mine.add_(drift)
        self.put([0.5 * old + 0.5 * new for old, new in zip(before, after)])


def itinerary(hospitals, rng):
    """Everyone once, in an order drawn anew, and so on."""
    while True:
        order = list(hospitals)
        rng.shuffle(order)
        yield from order


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(30, 64), nn.Tanh(), nn.Linear(64, 1)).cuda()
    federation = Federation(model)
    route = itinerary([Hospital(number) for number in range(HOSPITALS)], random.Random(chosen.seed))
    for _ in range(chosen.steps):
        hospital = next(route)  # step
        federation.visit(hospital)
    print("hospitals with a control variate:", len(federation.controls))


if __name__ == "__main__":
    main()
