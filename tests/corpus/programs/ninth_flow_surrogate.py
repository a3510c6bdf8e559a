# SPDX-License-Identifier: Apache-2.0
"""Trains a surrogate of a two-dimensional flow for one epoch; the means of the losses are logged at its end."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

SCALARS, VECTORS, GRID, BATCH = 1, 2, 32, 4


class FlowModule(nn.Module):
    """A network with its steps, as a training framework calls them."""

    def __init__(self, width=12):
        super().__init__()
        fields = SCALARS + VECTORS
        self.net = nn.Sequential(
            nn.Conv2d(fields, width, 3, padding=1), nn.GELU(),
            nn.Conv2d(width, width, 3, padding=1), nn.GELU(),
            nn.Conv2d(width, fields, 3, padding=1),
        )

    def training_step(self, batch):
        now, later = (part.cuda() for part in batch)  # allocates
        predicted = self.net(now)  # allocates
        loss = F.mse_loss(predicted, later)  # allocates
        # How the two kinds of fields fare is logged apart.
        scalar_loss = F.mse_loss(predicted[:, :SCALARS], later[:, :SCALARS])  # allocates
        vector_loss = F.mse_loss(predicted[:, SCALARS:], later[:, SCALARS:])  # allocates
        return {"loss": loss, "scalar_loss": scalar_loss, "vector_loss": vector_loss}

    def training_epoch_end(self, outputs):
        for name in outputs[0]:
            mean = torch.stack([output[name].detach() for output in outputs]).mean()
            print(f"{name} {mean.item():.4f}")


class EpochLoop:
    def __init__(self, module, optimizer):
        self.module, self.optimizer = module, optimizer
        self.outputs = []

    def advance(self, batch):
        output = self.module.training_step(batch)
        self.optimizer.zero_grad()
        output["loss"].backward()
        self.optimizer.step()
        self.outputs.append(output)  # keeps

    def run(self, batches):
        for number, batch in enumerate(batches):
            self.module.train()  # step
            self.advance(batch)
            if number % 10 == 0:
                print("batch", number)
        self.module.training_epoch_end(self.outputs)
        self.outputs = []


def trajectories(count):
    """Pairs of states of the simulated flow, one a unit of time after the other."""
    for _ in range(count):
        yield torch.randn(BATCH, SCALARS + VECTORS, GRID, GRID), torch.randn(BATCH, SCALARS + VECTORS, GRID, GRID)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    module = FlowModule().cuda()
    optimizer = torch.optim.AdamW(module.parameters(), lr=2e-4)
    EpochLoop(module, optimizer).run(trajectories(chosen.steps))


if __name__ == "__main__":
    main()
