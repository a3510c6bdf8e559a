# SPDX-License-Identifier: Apache-2.0
"""Trains a network for a measured property, and afterwards computes the metrics of each epoch on the test set."""

import argparse
import copy

import torch
from torch import nn


class Train:
    def __init__(self, net, data, optimizer, epochs):
        self.net, self.data, self.optimizer, self.epochs = net, data, optimizer, epochs
        self.states = {}

    def train_once(self):
        for inputs, measured in self.data:
            self.optimizer.zero_grad()
            loss = (self.net(inputs) - measured).square().mean()
            loss.backward()
            self.optimizer.step()

    def train(self):
        self.net.train()
        for epoch in range(self.epochs):
            self.train_once()  # step
            state = copy.deepcopy(self.net.state_dict())  # allocates
            self.states[epoch] = state  # keeps
        self.states["final"] = self.states[self.epochs - 1]
        return self.states


class Test:
    def __init__(self, net, data, metrics, states):
        self.net, self.data, self.metrics, self.states = net, data, metrics, states

    @torch.no_grad()
    def run(self):
        results = {name: {} for name in self.metrics}
        self.net.eval()
        for epoch, state in self.states.items():
            self.net.load_state_dict(state)
            for name, metric in self.metrics.items():
                values = [metric(self.net(inputs), measured).item() for inputs, measured in self.data]
                results[name][epoch] = sum(values) / len(values)
        return results


def batches(count):
    return [(torch.randn(32, 64, device="cuda"), torch.randn(32, 1, device="cuda")) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    net = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1)).cuda()
    states = Train(net, batches(6), torch.optim.Adam(net.parameters(), 1e-3), chosen.steps).train()
    metrics = {"mse": nn.functional.mse_loss, "mae": nn.functional.l1_loss}
    results = Test(net, batches(2), metrics, states).run()
    print({name: values["final"] for name, values in results.items()})


if __name__ == "__main__":
    main()
