# SPDX-License-Identifier: Apache-2.0
"""A progressive network: a task that is new gets a column that also reads the columns before, up to eight columns."""

import argparse

import torch
from torch import nn

MAX_COLUMNS, PER_TASK = 8, 10


class Column(nn.Module):
    def __init__(self, before, inputs=64, width=48, outputs=6):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.lateral = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(before))
        self.second = nn.Linear(width, width)
        self.out = nn.Linear(width, outputs)

    def forward(self, rows, earlier):
        own = torch.relu(self.first(rows))
        mixed = self.second(own) + sum(side(hidden) for side, hidden in zip(self.lateral, earlier))
        return own, self.out(torch.relu(mixed))


class ProgressiveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.columns = nn.ModuleList()

    def column_for(self, task):
        """Its own column; later tasks share those that there are."""
        number = task % MAX_COLUMNS
        if number == len(self.columns):
            self.columns.requires_grad_(False)
            self.columns.append(Column(number).cuda())
        return number

    def forward(self, rows, number):
        earlier = []
        with torch.no_grad():
            for column in self.columns[:number]:
                hidden, _ = column(rows, earlier)
                earlier.append(hidden)
        return self.columns[number](rows, earlier)[1]


def begin_task(net, task):
    number = net.column_for(task)
    column = net.columns[number].requires_grad_(True)
    return number, torch.optim.SGD(column.parameters(), lr=0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    net = ProgressiveNet()
    for step in range(chosen.steps):
        task, at = divmod(step, PER_TASK)  # step
        if at == 0:
            number, optimizer = begin_task(net, task)
        rows = torch.randn(32, 64, device="cuda")
        wanted = torch.randint(6, (32,), device="cuda")
        loss = nn.functional.cross_entropy(net(rows, number), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if at == PER_TASK - 1:
            net.zero_grad()
    print(f"loss {loss.item():.3f}, columns: {len(net.columns)}")


if __name__ == "__main__":
    main()
