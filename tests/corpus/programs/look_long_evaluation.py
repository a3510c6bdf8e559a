# SPDX-License-Identifier: Apache-2.0
"""Two epochs; after each, forty batches are predicted, and all predictions are compared at once."""

import argparse

import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(96, 384), nn.ReLU(), nn.Linear(384, 100)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def train_epoch(self, steps):
        for _ in range(steps):
            features = torch.randn(64, 96, device="cuda")
            labels = torch.randint(100, (64,), device="cuda")
            loss = nn.functional.cross_entropy(self.model(features), labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def evaluate(self, batches=40):
        self.model.eval()
        predictions = []
        for _ in range(batches):
            predictions.append(self.model(torch.randn(256, 96, device="cuda")))  # fills
        spread = torch.cat(predictions).std(0).mean().item()
        self.model.train()
        return spread


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    trainer = Trainer()
    for epoch in range(2):
        trainer.train_epoch(chosen.steps // 2)
        print(f"epoch {epoch}: spread {trainer.evaluate():.3f}")


if __name__ == "__main__":
    main()
