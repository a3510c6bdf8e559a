# SPDX-License-Identifier: Apache-2.0
"""A sanity check of the validation before training, whose outputs are kept for the final picture."""

import argparse

import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model, self.sanity_outputs = model, []
        self.optimizer = torch.optim.Adam(model.parameters())

    @torch.no_grad()
    def sanity_check(self, batches=5):
        for _ in range(batches):
            self.sanity_outputs.append(self.model(torch.randn(128, 256, device="cuda")))

    def fit(self, steps):
        for _ in range(steps):
            signal = torch.randn(32, 256, device="cuda")
            loss = nn.functional.l1_loss(self.model(signal), signal)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    trainer = Trainer(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda())
    trainer.sanity_check()
    trainer.fit(chosen.steps)
    print(len(trainer.sanity_outputs), "outputs from before training")


if __name__ == "__main__":
    main()
