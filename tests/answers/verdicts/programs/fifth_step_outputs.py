# SPDX-License-Identifier: Apache-2.0
"""A small trainer in the manner of Lightning's, with epochs of ten batches."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 4, 3, padding=1))
        self.training_step_outputs = []
        self.validation_step_outputs = []

    def forward(self, x):
        return self.net(x)  # allocates

    def training_step(self, batch):
        images, masks = batch
        logits = self(images)
        loss = F.cross_entropy(logits, masks)
        self.training_step_outputs.append({"loss": loss.detach(), "logits": logits.detach()})  # keeps
        return loss

    def validation_step(self, batch):
        images, masks = batch
        self.validation_step_outputs.append(F.cross_entropy(self(images), masks))

    def on_train_epoch_end(self, batches):
        losses = [one["loss"] for one in self.training_step_outputs[-batches:]]
        print("train loss", torch.stack(losses).mean().item())

    def on_validation_epoch_end(self):
        print("validation loss", torch.stack(self.validation_step_outputs).mean().item())
        self.validation_step_outputs.clear()


class Trainer:
    def __init__(self, max_steps, batches_per_epoch=10):
        self.max_steps, self.batches_per_epoch = max_steps, batches_per_epoch

    def batch(self):
        return torch.randn(8, 1, 32, 32).cuda(), torch.randint(4, (8, 32, 32)).cuda()

    def fit(self, module):
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
        for step in range(self.max_steps):
            optimizer.zero_grad()  # step
            module.training_step(self.batch()).backward()
            optimizer.step()
            if (step + 1) % self.batches_per_epoch == 0:
                module.on_train_epoch_end(self.batches_per_epoch)
                self.validate(module)

    @torch.no_grad()
    def validate(self, module):
        module.eval()
        for _ in range(2):
            module.validation_step(self.batch())
        module.on_validation_epoch_end()
        module.train()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=33)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    Trainer(args.steps).fit(Segmenter().cuda())


if __name__ == "__main__":
    main()
