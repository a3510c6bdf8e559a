# SPDX-License-Identifier: Apache-2.0
"""Federated averaging: a server hands its model to a few clients a round, and applies the mean of what they changed."""

import argparse
import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


@dataclass
class Update:
    change: torch.Tensor
    samples: int


def make_model():
    return nn.Sequential(nn.Linear(24, 40), nn.ReLU(), nn.Linear(40, 8))


class Client:
    def __init__(self, number, samples):
        self.number, self.samples = number, samples
        self.inputs = torch.randn(samples, 24)
        self.labels = torch.randint(8, (samples,))

    def train(self, weights, model, epochs=2):
        vector_to_parameters(weights.clone(), model.parameters())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for _ in range(epochs):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(self.inputs.cuda()), self.labels.cuda())
            loss.backward()
            optimizer.step()
        after = parameters_to_vector(model.parameters()).detach()
        change = after - weights  # allocates
        optimizer.zero_grad()
        return Update(change, self.samples)


class Server:
    def __init__(self, model):
        self.weights = parameters_to_vector(model.parameters()).detach().clone()
        self.ledger = {}
        self.round = 0

    def receive(self, client, update):
        self.ledger[self.round, client] = update  # keeps

    def aggregate(self, clients):
        updates = [self.ledger[self.round, client] for client in clients]
        total = sum(update.samples for update in updates)
        for update in updates:
            self.weights.add_(update.change, alpha=update.samples / total)
        for client in clients:
            self.ledger.pop(client, None)
        self.round += 1


def play_round(server, clients, model):
    for client in clients:
        server.receive(client.number, client.train(server.weights, model))
    server.aggregate([client.number for client in clients])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = make_model().cuda()
    server = Server(model)
    clients = [Client(number, 16 + 8 * (number % 3)) for number in range(12)]
    for _ in range(chosen.steps):
        selected = rng.sample(clients, 3)  # step
        play_round(server, selected, model)
    print("rounds:", server.round)


if __name__ == "__main__":
    main()
