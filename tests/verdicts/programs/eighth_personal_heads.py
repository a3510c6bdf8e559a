# SPDX-License-Identifier: Apache-2.0
"""Personalised federated learning in one process: a shared body is averaged, each client has a head of its own."""

import argparse
import copy
import random

import torch
from torch import nn


class Client:
    def __init__(self, number, width=96, classes=62):
        self.number = number
        self.head = nn.Linear(width, classes).cuda()
        self.velocity = [torch.zeros_like(parameter) for parameter in self.head.parameters()]

    def train(self, body, updates=2, rate=0.05):
        """Returns the body as it is after the client's own updates."""
        body = copy.deepcopy(body)
        for _ in range(updates):
            rows = torch.randn(24, 64, device="cuda")
            labels = torch.randint(self.head.out_features, (24,), device="cuda")
            loss = nn.functional.cross_entropy(self.head(body(rows)), labels)
            own, shared = list(self.head.parameters()), list(body.parameters())
            gradients = torch.autograd.grad(loss, own + shared)
            with torch.no_grad():
                for parameter, velocity, gradient in zip(own, self.velocity, gradients):
                    parameter.sub_(rate * velocity.mul_(0.9).add_(gradient))
                for parameter, gradient in zip(shared, gradients[len(own):]):
                    parameter.sub_(rate * gradient)
        return body


class Server:
    def __init__(self, population, draw):
        self.population, self.draw = population, draw
        self.body = nn.Sequential(nn.Linear(64, 96), nn.ReLU()).cuda()
        self.clients, self.order = {}, []

    def next_client(self):
        """Each of the population has its turn before any has another."""
        if not self.order:
            self.order = list(range(self.population))
            self.draw.shuffle(self.order)
        number = self.order.pop()
        if number not in self.clients:
            self.clients[number] = Client(number)
        return self.clients[number]

    def round(self, count):
        bodies = [self.next_client().train(self.body) for _ in range(count)]
        with torch.no_grad():
            for shared, *own in zip(self.body.parameters(), *(body.parameters() for body in bodies)):
                shared.copy_(torch.stack(own).mean(0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--population", type=int, default=90)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    server = Server(chosen.population, random.Random(chosen.seed))
    for _ in range(chosen.steps):
        server.round(count=2)  # step
    print(f"{len(server.clients)} clients have taken part, norm {server.body[0].weight.norm().item():.3f}")


if __name__ == "__main__":
    main()
