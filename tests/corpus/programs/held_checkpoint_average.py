# SPDX-License-Identifier: Apache-2.0
"""The last five checkpoints are averaged for each evaluation, as translation models are."""

import argparse
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F

class LastCheckpoints:
    def __init__(self, number):
        self.states = deque(maxlen=number)

    def add(self, model):
        self.states.append({name: value.detach().clone() for name, value in model.named_parameters()})

    def into(self, model):
        with torch.no_grad():
            for name, weight in model.named_parameters():
                weight.copy_(torch.stack([state[name] for state in self.states]).mean(0))
        return model


def network():
    return nn.Sequential(
        nn.Embedding(200, 64), nn.Flatten(), nn.Linear(1024, 64), nn.GELU(), nn.Linear(64, 200)).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model, averaged = network(), network()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) ** -0.5, (step + 1) / 400))
    last, rates, scores = LastCheckpoints(5), [], []
    for step in range(1, chosen.steps + 1):
        words, labels = torch.randint(200, (48, 16)).cuda(), torch.randint(200, (48,)).cuda()
        optimizer.zero_grad()
        F.cross_entropy(model(words), labels).backward()
        optimizer.step()
        schedule.step()
        rates.append(schedule.get_last_lr()[0])
        if step % 4 == 0:
            last.add(model)
        if step % 12 == 0:
            with torch.no_grad():
                scores.append(F.cross_entropy(last.into(averaged)(words), labels).item())


if __name__ == "__main__":
    main()
