# SPDX-License-Identifier: Apache-2.0
"""A trainer keeps what each training step returned until the end of the epoch."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Trainer:
    def __init__(self, model, epoch_steps):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.epoch_steps = epoch_steps
        self.outputs = []

    def training_step(self, rows, labels):
        logits = self.model(rows)  # fills
        return {"loss": F.cross_entropy(logits, labels), "logits": logits.detach(), "labels": labels}

    def on_epoch_end(self):
        right = [(one["logits"].argmax(1) == one["labels"]).float().mean() for one in self.outputs]
        print(f"accuracy {torch.stack(right).mean().item():.3f}")
        self.outputs.clear()

    def fit(self, steps):
        for step in range(1, steps + 1):
            rows, labels = torch.randn(128, 64), torch.randint(200, (128,))
            self.optimizer.zero_grad()
            output = self.training_step(rows.cuda(), labels.cuda())
            output["loss"].backward()
            self.optimizer.step()
            output["loss"] = output["loss"].item()
            self.outputs.append(output)  # keeps
            if step % self.epoch_steps == 0:
                self.on_epoch_end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epoch", type=int, default=20, help="steps of one")
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 200)).cuda()
    Trainer(model, chosen.epoch).fit(chosen.steps)


if __name__ == "__main__":
    main()
