# SPDX-License-Identifier: Apache-2.0
"""A trainer with callbacks; one of them reports how far the gradient has turned since the step before."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Callback:
    def on_backward_end(self, trainer):
        pass

    def on_step_end(self, trainer):
        pass


class GradientCosine(Callback):
    def __init__(self):
        self.gradients = []

    def on_backward_end(self, trainer):
        flat = torch.cat([p.grad.flatten() for p in trainer.model.parameters()])  # allocates
        self.gradients.append(flat)  # keeps
        if len(self.gradients) > 1:
            trainer.log("gradient_cosine", F.cosine_similarity(self.gradients[-1], self.gradients[-2], dim=0).item())


class WarmupSchedule(Callback):
    def __init__(self, lr, warmup):
        self.lr, self.warmup = lr, warmup

    def on_step_end(self, trainer):
        for group in trainer.optimizer.param_groups:
            group["lr"] = self.lr * min(1.0, (trainer.step + 1) / self.warmup)


class Trainer:
    def __init__(self, model, optimizer, callbacks):
        self.model, self.optimizer, self.callbacks = model, optimizer, callbacks
        self.step = 0
        self.logged = {}

    def log(self, name, value):
        self.logged.setdefault(name, []).append(value)

    def emit(self, event):
        for callback in self.callbacks:
            getattr(callback, event)(self)

    def fit(self, steps):
        for self.step in range(steps):
            x, y = torch.randn(64, 100).cuda(), torch.randint(0, 10, (64,)).cuda()  # step
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.emit("on_backward_end")
            self.optimizer.step()
            self.log("loss", loss.item())
            self.emit("on_step_end")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(100, 120), nn.ReLU(), nn.Linear(120, 120), nn.ReLU(), nn.Linear(120, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    trainer = Trainer(model, optimizer, [GradientCosine(), WarmupSchedule(0.1, 20)])
    trainer.fit(args.steps)
    print({name: values[-1] for name, values in trainer.logged.items()})


if __name__ == "__main__":
    main()
