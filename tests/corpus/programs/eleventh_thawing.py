# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a network whose layers are frozen at first, each until an epoch of its own."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Freezer:
    def __init__(self, name_starts_with, until_epoch):
        self.prefixes, self.until_epoch = tuple(name_starts_with), until_epoch
        self.frozen = False

    def on_epoch_start(self, model, epoch):
        freeze = epoch < self.until_epoch
        if freeze == self.frozen:
            return
        for name, parameter in model.named_parameters():
            if name.startswith(self.prefixes):
                parameter.requires_grad = not freeze
        self.frozen = freeze


class Classifier(nn.Module):
    def __init__(self, width=192, classes=10):
        super().__init__()
        self.backbone = nn.ModuleDict({f"layer{number}": nn.Linear(width, width) for number in range(1, 6)})
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for layer in self.backbone.values():
            x = F.relu(layer(x))
        return self.head(x)


class Trainer:
    def __init__(self, model, callbacks, per_epoch):
        self.model, self.callbacks, self.per_epoch = model, callbacks, per_epoch
        self.optimizer = torch.optim.Adam([
            {"params": model.backbone.parameters(), "lr": 1e-4}, {"params": model.head.parameters(), "lr": 1e-3}])

    def fit(self, steps):
        for step in range(steps):
            rows = torch.randn(64, 192, device="cuda")  # step
            labels = torch.zeros(64, dtype=torch.long, device="cuda")
            if step % self.per_epoch == 0:
                for callback in self.callbacks:
                    callback.on_epoch_start(self.model, step // self.per_epoch)
            loss = F.cross_entropy(self.model(rows), labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    # The last layers thaw first.
    callbacks = [Freezer([f"backbone.layer{number}"], until_epoch=6 - number) for number in range(1, 6)]
    loss = Trainer(Classifier().cuda(), callbacks, per_epoch=5).fit(chosen.steps)
    print(f"loss {loss:.4f}")


if __name__ == "__main__":
    main()
