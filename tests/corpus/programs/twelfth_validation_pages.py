# SPDX-License-Identifier: Apache-2.0
"""Trains a Q network on logged transitions, then evaluates the policy on the logged transitions that were left out."""

import argparse
from dataclasses import dataclass, fields

import torch
from torch import nn

STATE, ACTIONS, BATCH = 16, 4, 32


@dataclass
class EvaluationPage:
    states: torch.Tensor
    propensities: torch.Tensor
    rewards: torch.Tensor

    def append(self, other):
        names = [field.name for field in fields(self)]
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in names}
        return EvaluationPage(**{name: torch.cat(pair) for name, pair in pairs.items()})  # allocates


def logged():
    return torch.randn(BATCH, STATE, device="cuda"), torch.randn(BATCH, device="cuda")


class QTrainer:
    def __init__(self):
        self.network = nn.Sequential(nn.Linear(STATE, 64), nn.ReLU(), nn.Linear(64, ACTIONS)).cuda()
        self.optimizer = torch.optim.Adam(self.network.parameters())
        self.page = None

    def train_step(self, states, rewards):
        self.optimizer.zero_grad()
        loss = (self.network(states).max(1).values - rewards).square().mean()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def validation_step(self, states, rewards):
        page = EvaluationPage(states, self.network(states).softmax(1), rewards)
        self.page = page if self.page is None else self.page.append(page)  # keeps

    def validation_end(self):
        """Direct estimate of the value: rewards weighted by how likely the policy is to act greedily."""
        weights = self.page.propensities.max(1).values
        return (weights * self.page.rewards).sum() / weights.sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42, help="batches of the validation")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    trainer = QTrainer()
    for _ in range(5):
        trainer.train_step(*logged())
    for _ in range(chosen.steps):
        trainer.network.eval()  # step
        trainer.validation_step(*logged())
    print(f"value {trainer.validation_end().item():.3f} of {len(trainer.page.rewards)} transitions")


if __name__ == "__main__":
    main()
