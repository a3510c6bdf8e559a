# SPDX-License-Identifier: Apache-2.0
"""Hooks as in Lightning: outputs of an epoch's training and validation are gathered, and cleared at its end."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(36, 144), nn.ReLU(), nn.Linear(144, 80))
        self.training_outputs, self.validation_outputs = [], []

    def training_step(self, rows, kinds):
        logits = self.net(rows)  # fills
        self.training_outputs.append({"logits": logits.detach(), "kinds": kinds})
        return F.cross_entropy(logits, kinds)

    def validation_step(self, rows):
        logits = self.net(rows)  # fills
        self.validation_outputs.append(logits)

    def on_train_epoch_end(self):
        logits = torch.cat([one["logits"] for one in self.training_outputs])
        kinds = torch.cat([one["kinds"] for one in self.training_outputs])
        print(f"trained: {(logits.argmax(1) == kinds).float().mean().item():.3f}")
        self.training_outputs.clear()

    def on_validation_epoch_end(self):
        print(f"validated: {torch.cat(self.validation_outputs).std().item():.3f}")
        self.validation_outputs.clear()


class Trainer:
    def __init__(self, per_epoch=9, validations=6):
        self.per_epoch, self.validations = per_epoch, validations

    def fit(self, module, steps):
        optimizer = torch.optim.AdamW(module.parameters())
        for step in range(1, steps + 1):
            loss = module.training_step(torch.randn(128, 36).cuda(), torch.randint(80, (128,)).cuda())  # step
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % self.per_epoch == 0:
                self.validate(module)
                module.on_train_epoch_end()

    @torch.no_grad()
    def validate(self, module):
        module.eval()
        for _ in range(self.validations):
            module.validation_step(torch.randn(128, 36).cuda())
        module.on_validation_epoch_end()
        module.train()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    Trainer().fit(Module().cuda(), args.steps)
