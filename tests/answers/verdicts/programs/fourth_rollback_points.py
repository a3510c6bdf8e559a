# SPDX-License-Identifier: Apache-2.0
"""A trainer that goes back to the last good point when the loss explodes; a callback makes the points."""

import argparse
import copy

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Rollback:
    """Every five steps; only the newest is ever loaded."""

    def __init__(self, every):
        self.every, self.points = every, []

    def after_step(self, trainer):
        if trainer.done % self.every == 0:
            self.points.append(copy.deepcopy(trainer.optimizer.state_dict()))  # allocates

    def after_loss(self, trainer, loss):
        if self.points and loss > 1e6:
            trainer.optimizer.load_state_dict(self.points[-1])


class Trainer:
    def __init__(self, *callbacks):
        self.model = nn.Sequential(nn.Linear(200, 300), nn.ReLU(), nn.Linear(300, 200)).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.callbacks, self.done = callbacks, 0

    def train(self, steps):
        while self.done < steps:
            x = torch.randn(32, 200, device="cuda")  # step
            loss = (self.model(x) - x).square().mean()
            for callback in self.callbacks:
                callback.after_loss(self, loss.item())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.done += 1
            for callback in self.callbacks:
                callback.after_step(self)


Trainer(Rollback(every=5)).train(options.steps)
