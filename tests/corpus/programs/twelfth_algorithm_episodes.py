# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional network episode by episode, with a collector for the statistics of the training."""

import argparse
from collections.abc import Mapping

import torch
from torch import nn


class StatisticsCollector(Mapping):
    """A list of values for each statistic; setting a statistic adds a value to its list."""

    def __init__(self):
        self.statistics, self.formatting = {}, {}

    def add_statistic(self, key, formatting):
        self.statistics[key], self.formatting[key] = [], formatting

    def __getitem__(self, key):
        return self.statistics[key]

    def __setitem__(self, key, value):
        self.statistics[key].append(value)  # keeps

    def __len__(self):
        return len(self.statistics)

    def __iter__(self):
        return iter(self.statistics)

    def export_to_string(self):
        return "; ".join(f"{key} {self.formatting[key].format(values[-1])}" for key, values in self.statistics.items())


class Problem:
    def __init__(self):
        self.loss_function = nn.CrossEntropyLoss()

    def batch(self):
        return {"images": torch.randn(16, 1, 16, 16, device="cuda"),
                "targets": torch.randint(0, 10, (16,), device="cuda")}

    def evaluate_loss(self, data_dict, logits):
        loss = self.loss_function(logits, data_dict["targets"])  # allocates
        return loss

    def collect_statistics(self, collector, data_dict, logits):
        collector["acc"] = (logits.argmax(1) == data_dict["targets"]).sum().item() / len(logits)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    problem = Problem()
    model = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 7 * 7, 10)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    collector = StatisticsCollector()
    for key, formatting in (("episode", "{:06d}"), ("loss", "{:12.10f}"), ("acc", "{:5.3f}")):
        collector.add_statistic(key, formatting)
    for episode in range(chosen.steps):
        data_dict = problem.batch()  # step
        optimizer.zero_grad()
        logits = model(data_dict["images"])
        loss = problem.evaluate_loss(data_dict, logits)
        loss.backward()
        optimizer.step()
        collector["episode"] = episode
        collector["loss"] = loss
        problem.collect_statistics(collector, data_dict, logits)
        if episode % 10 == 9:
            print(collector.export_to_string())


if __name__ == "__main__":
    main()
