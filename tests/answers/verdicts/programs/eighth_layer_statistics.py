# SPDX-License-Identifier: Apache-2.0
"""Watches the second moments of a model's layers, on training data and on held-out data, to see them drift apart."""

import argparse
from functools import partial

import torch
from torch import nn


class LayerStatistics:
    def __init__(self, model, kind=nn.Linear):
        self.layers = {name: layer for name, layer in model.named_modules() if isinstance(layer, kind)}
        self.handles, self.records = {}, {}

    def attach(self):
        """Begins afresh: what the layers gave before does not count."""
        for name, layer in self.layers.items():
            record = self.records[name] = {"calls": 0}
            self.handles[name] = layer.register_forward_hook(partial(self.note, record))  # keeps

    def detach(self):
        for handle in self.handles.values():
            handle.remove()
        self.handles.clear()

    @staticmethod
    def note(record, layer, args, output):
        features = output.detach()
        moments = features.T @ features  # allocates
        moments /= len(features)
        record["moments"] = moments  # keeps
        record["calls"] += 1

    def traces(self):
        return {name: record["moments"].diagonal().sum() for name, record in self.records.items()}


class Drift:
    """Differences of the traces, as numbers."""

    def __init__(self):
        self.lines = []

    def write(self, step, trained, held_out):
        widest = max((trained[name] - held_out[name]).abs().item() for name in trained)
        self.lines.append(f"step {step}: {widest:.3f}")


def train_batch(model, optimizer, rows):
    loss = (model(rows) - rows.roll(1, 1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    statistics, drift = LayerStatistics(model), Drift()
    for step in range(chosen.steps):
        statistics.attach()  # step
        train_batch(model, optimizer, torch.randn(48, 128, device="cuda"))
        trained = statistics.traces()

        statistics.attach()
        with torch.no_grad():
            model(torch.randn(48, 128, device="cuda"))
        drift.write(step, trained, statistics.traces())
        statistics.detach()
    print("\n".join(drift.lines[-3:]))


if __name__ == "__main__":
    main()
