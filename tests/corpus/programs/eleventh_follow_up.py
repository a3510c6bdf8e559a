# SPDX-License-Identifier: Apache-2.0
"""Survival analysis with a slow copy of the network, whose estimates of earlier batches join each loss."""

import argparse
import collections
import copy

import torch
from torch import nn

FEATURES = 24
Survival = collections.namedtuple("Survival", ["estimate", "event", "time"])


def neg_partial_log_likelihood(log_hazards, events, times):
    order = torch.argsort(times, descending=True)
    log_hazards, events = log_hazards[order], events[order]
    at_risk = torch.logcumsumexp(log_hazards, dim=0)
    return -((log_hazards - at_risk) * events).mean()


class Momentum(nn.Module):
    def __init__(self, backbone, loss, batchsize, steps, rate=0.999):
        super().__init__()
        self.rate, self.loss = rate, loss
        self.online, self.target = copy.deepcopy(backbone), copy.deepcopy(backbone)
        for parameter in self.target.parameters():
            parameter.requires_grad = False
        self.memory_q = collections.deque(maxlen=batchsize)
        self.memory_k = collections.deque(maxlen=batchsize * steps)

    def forward(self, inputs, event, time):
        for row in zip(self.online(inputs), event, time):
            self.memory_q.append(Survival(*row))
        loss = self.bank_loss()
        with torch.no_grad():
            self.update_target()
            for row in zip(self.target(inputs), event, time):
                self.memory_k.append(Survival(*row))
        return loss

    def bank_loss(self):
        bank = [*self.memory_k, *self.memory_q]
        estimates = torch.stack([row.estimate for row in bank])[:, 0]
        events = torch.stack([row.event for row in bank])
        times = torch.stack([row.time for row in bank])
        return self.loss(estimates.cpu(), events.cpu().float(), times.cpu())

    def update_target(self):
        for online, target in zip(self.online.parameters(), self.target.parameters()):
            target.mul_(self.rate).add_(online, alpha=1 - self.rate)


def draw_patients(number):
    features = torch.randn(number, FEATURES, device="cuda")
    time = torch.randint(1, 100, (number,), device="cuda").float()
    return features, torch.rand(number, device="cuda") < 0.6, time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--bank", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    backbone = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, 1))
    model = Momentum(backbone, neg_partial_log_likelihood, chosen.batch, chosen.bank).cuda()
    optimizer = torch.optim.Adam(model.online.parameters(), lr=1e-3)
    for _ in range(chosen.steps):
        features, event, time = draw_patients(chosen.batch)  # step
        loss = model(features, event, time)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{len(model.memory_k)} estimates beside the batch's own, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
