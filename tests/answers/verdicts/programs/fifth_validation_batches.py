# SPDX-License-Identifier: Apache-2.0
"""A regression that is checked after each other step on a batch of the validation set, which stays on the device."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import Dataset


class Measurements(Dataset):
    def __init__(self, count, width=160):
        self.x, self.y = torch.randn(count, width), torch.randn(count, 1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, places):
        return self.x[places], self.y[places]


class Validation:
    def __init__(self, data, batch_size):
        self.data, self.batch_size = data, batch_size
        self.batches = -(-len(data) // batch_size)
        self.on_device = {}
        self.next = 0

    def batch(self, number):
        if number not in self.on_device:
            places = slice(number * self.batch_size, (number + 1) * self.batch_size)
            self.on_device[number] = [part.cuda() for part in self.data[places]]
        return self.on_device[number]

    @torch.no_grad()
    def check(self, model):
        x, y = self.batch(self.next)
        self.next = (self.next + 1) % self.batches
        return F.mse_loss(model(x), y).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=51)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    training, validation = Measurements(4096), Validation(Measurements(3712), batch_size=128)
    model = nn.Sequential(nn.Linear(160, 128), nn.SiLU(), nn.Linear(128, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        x, y = (part.cuda() for part in training[torch.randint(len(training), (64,))])  # step
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2:
            print(step, validation.check(model))


if __name__ == "__main__":
    main()
