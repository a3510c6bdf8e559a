# SPDX-License-Identifier: Apache-2.0
"""Trains a box regressor for a tracker; the trainer averages what the actor reports of each batch, and prints it."""

import argparse
from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F

PER_EPOCH = 12


class AverageMeter:
    def __init__(self):
        self.history = []
        self.reset()

    def reset(self):
        self.val = self.sum = self.count = self.avg = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n  # keeps
        self.count += n
        self.avg = self.sum / self.count

    def new_epoch(self):
        self.history.append(self.avg)  # keeps
        self.reset()


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.ReLU())
        self.head = nn.Linear(64, 4)

    def forward(self, features):
        return self.head(self.body(features))  # allocates


def overlap(predicted, truth):
    """Boxes as x, y, x, y."""
    top = torch.maximum(predicted[:, :2], truth[:, :2])  # allocates
    bottom = torch.minimum(predicted[:, 2:], truth[:, 2:])  # allocates
    sides = (bottom - top).clamp(min=0)  # allocates
    common = sides[:, 0] * sides[:, 1]  # allocates
    extent = predicted[:, 2:] - predicted[:, :2]  # allocates
    of_truth = truth[:, 2:] - truth[:, :2]  # allocates
    union = extent[:, 0] * extent[:, 1] + of_truth[:, 0] * of_truth[:, 1] - common  # allocates
    return (common / (union + 1e-6)).mean()  # allocates


class Actor:
    def __init__(self, net):
        self.net = net

    def __call__(self, data):
        predicted = self.net(data["features"])
        loss = F.smooth_l1_loss(predicted, data["boxes"])
        return loss, {"Loss/total": loss.item(), "Stat/overlap": overlap(predicted, data["boxes"])}


class Trainer:
    def __init__(self, actor, optimizer):
        self.actor, self.optimizer = actor, optimizer
        self.stats = OrderedDict()

    def update_stats(self, new, batch_size):
        for name, val in new.items():
            if name not in self.stats:
                self.stats[name] = AverageMeter()
            self.stats[name].update(val, batch_size)

    def train(self, steps):
        for step in range(steps):
            data = {"features": torch.randn(1024, 32, device="cuda")}  # step
            data["boxes"] = torch.rand(1024, 4, device="cuda")  # allocates
            loss, stats = self.actor(data)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.update_stats(stats, len(data["boxes"]))
            if (step + 1) % PER_EPOCH == 0:
                print(", ".join(f"{name}: {meter.avg:.5f}" for name, meter in self.stats.items()))
                for meter in self.stats.values():
                    meter.new_epoch()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    net = Regressor().cuda()
    Trainer(Actor(net), torch.optim.Adam(net.parameters(), lr=1e-3)).train(chosen.steps)


if __name__ == "__main__":
    main()
