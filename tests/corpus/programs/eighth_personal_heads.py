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
        self.optimizer = torch.optim.SGD(self.head.parameters(), lr=0.05, momentum=0.9)

    def train(self, body, updates=2, rate=0.02):
        """Of the body, which is the round's own copy, only plain descent: it has no state from round to round."""
        for _ in range(updates):
            rows = torch.randn(24, 64, device="cuda")
            labels = torch.randint(self.head.out_features, (24,), device="cuda")
            loss = nn.functional.cross_entropy(self.head(body(rows)), labels)
            self.optimizer.zero_grad()
            body.zero_grad()
            loss.backward()
            self.optimizer.step()
            with torch.no_grad():
                for parameter in body.parameters():
                    parameter.sub_(rate * parameter.grad)


class Server:
    def __init__(self, population, draw, places=2):
        self.population, self.draw = population, draw
        self.body = nn.Sequential(nn.Linear(64, 96), nn.ReLU()).cuda()
        self.copies = [copy.deepcopy(self.body) for _ in range(places)]
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

    def round(self):
        for body in self.copies:
            body.load_state_dict(self.body.state_dict())
            self.next_client().train(body)
        with torch.no_grad():
            for shared, *own in zip(self.body.parameters(), *(body.parameters() for body in self.copies)):
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
        server.round()  # step
    print(f"{len(server.clients)} clients have taken part, norm {server.body[0].weight.norm().item():.3f}")


if __name__ == "__main__":
    main()
