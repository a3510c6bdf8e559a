# SPDX-License-Identifier: Apache-2.0
"""A template for training: a module's steps hand back a dictionary, a trainer's loop calls them and the epoch's end."""

import argparse

import torch
from torch import nn
from torch.nn import functional


class SegmentationModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))

    def step(self, batch):
        images, targets = batch
        logits = self.net(images)
        loss = functional.binary_cross_entropy_with_logits(logits, targets)  # allocates
        preds = torch.sigmoid(logits.detach())  # allocates
        return loss, preds, targets

    def training_step(self, batch):
        loss, preds, targets = self.step(batch)
        return {"loss": loss, "preds": preds, "targets": targets}

    def training_epoch_end(self, outputs):
        pass

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class DataModule:
    def __init__(self, batches):
        self.batches = batches

    def train_batch(self):
        images = torch.rand(4, 3, 64, 64).cuda()
        targets = torch.zeros(4, 1, 64, 64).cuda()  # allocates
        return images, targets


class Trainer:
    def run_batch(self, module, optimizer, batch):
        output = module.training_step(batch)
        optimizer.zero_grad()
        output["loss"].backward()
        optimizer.step()
        return {name: value.detach() for name, value in output.items()}

    def fit(self, module, data, epochs=1):
        optimizer = module.configure_optimizers()
        for _ in range(epochs):
            epoch_output = []
            for _ in range(data.batches):
                module.train()  # step
                epoch_output.append(self.run_batch(module, optimizer, data.train_batch()))  # keeps
            module.training_epoch_end(epoch_output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24, help="batches of the epoch")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    Trainer().fit(SegmentationModule().cuda(), DataModule(chosen.steps))
    print("fitted")


if __name__ == "__main__":
    main()
