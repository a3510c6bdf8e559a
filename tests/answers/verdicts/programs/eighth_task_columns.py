# SPDX-License-Identifier: Apache-2.0
"""Continual learning with a column for each task, which sees the frozen features of the columns before it."""

import argparse

import torch
from torch import nn


class Column(nn.Module):
    def __init__(self, inputs, width, classes):
        super().__init__()
        self.own = nn.Linear(inputs, width)
        self.lateral = nn.Linear(width, width, bias=False)
        self.head = nn.Linear(width, classes)

    def features(self, rows, before):
        hidden = self.own(rows)
        if before is not None:
            hidden = hidden + self.lateral(before)
        return hidden.relu()


class ColumnNetwork(nn.Module):
    def __init__(self, inputs=64, width=80, classes=10, most=26):
        super().__init__()
        self.sizes, self.most = (inputs, width, classes), most
        self.columns = nn.ModuleList()

    def column_for(self, task):
        """Tasks beyond the last column go on with those of the first tasks."""
        if task >= len(self.columns) and len(self.columns) < self.most:
            self.columns.append(Column(*self.sizes).cuda())
        return task % self.most

    def forward(self, rows, chosen):
        total, count = None, 0
        with torch.no_grad():
            for number, column in enumerate(self.columns):
                if number == chosen:
                    continue
                one = column.features(rows, None)
                total, count = one if total is None else total + one, count + 1
        column = self.columns[chosen]
        return column.head(column.features(rows, total / count if count else None))


def learn_task(network, task, updates=3):
    chosen = network.column_for(task)
    column = network.columns[chosen]
    column.requires_grad_(True)
    optimizer = torch.optim.Adam(column.parameters(), lr=1e-3)
    for _ in range(updates):
        rows = torch.randn(32, 64, device="cuda")
        labels = torch.randint(10, (32,), device="cuda")
        loss = nn.functional.cross_entropy(network(rows, chosen), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    column.requires_grad_(False)
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    network = ColumnNetwork()
    for task in range(chosen.steps):
        loss = learn_task(network, task)  # step
    print(f"loss {loss:.4f} in the last task, {len(network.columns)} columns")


if __name__ == "__main__":
    main()
