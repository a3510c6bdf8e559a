# SPDX-License-Identifier: Apache-2.0
"""A trainer with callbacks that keeps what its validation steps returned, epoch after epoch."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Trainer:
    def __init__(self, model, epoch_steps=10, validation_batches=12):
        self.model = model
        self.epoch_steps = epoch_steps
        self.validation_batches = validation_batches
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.validation_outputs = []

    def batch(self):
        return torch.randn(64, 80).cuda(), torch.randint(100, (64,)).cuda()

    def training_step(self):
        rows, labels = self.batch()
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(rows), labels)
        loss.backward()
        self.optimizer.step()

    def validation_step(self):
        rows, labels = self.batch()
        logits = self.model(rows)  # allocates
        return {"logits": logits, "loss": F.cross_entropy(logits, labels).item()}

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        for _ in range(self.validation_batches):
            self.validation_outputs.append(self.validation_step())  # keeps
        latest = self.validation_outputs[-self.validation_batches:]
        self.model.train()
        return sum(one["loss"] for one in latest) / len(latest)

    def fit(self, steps):
        for step in range(1, steps + 1):
            self.training_step()
            if step % self.epoch_steps == 0:
                print(f"step {step}: validation loss {self.validate():.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(80, 160), nn.ReLU(), nn.Linear(160, 100)).cuda()
    Trainer(model).fit(chosen.steps)


if __name__ == "__main__":
    main()
