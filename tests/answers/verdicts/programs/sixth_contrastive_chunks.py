# SPDX-License-Identifier: Apache-2.0
"""Learns speech representations against the negatives of a large batch, which is encoded in parts."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(1, width, 10, 5), nn.GELU(), nn.Conv1d(width, width, 8, 4), nn.GELU())
        self.head = nn.Linear(width, 128)

    def forward(self, waveforms):
        return F.normalize(self.head(self.layers(waveforms[:, None]).mean(2)), dim=1)  # fills


class PartialBatches:
    """The loss is of all parts together, therefore each waits with its graph for the last."""

    def __init__(self, model, optimizer, parts, temperature=0.1):
        self.model = model
        self.optimizer = optimizer
        self.parts = parts
        self.temperature = temperature
        self.anchors, self.positives = [], []

    def add(self, anchors, positives):
        self.anchors.append(self.model(anchors))
        self.positives.append(self.model(positives))
        if len(self.anchors) == self.parts:
            self.update()

    def update(self):
        anchors, positives = torch.cat(self.anchors), torch.cat(self.positives)
        self.anchors.clear()
        self.positives.clear()
        similarity = anchors @ positives.T / self.temperature
        loss = F.cross_entropy(similarity, torch.arange(len(anchors), device="cuda"))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def augmented(waveforms):
    return waveforms * (0.8 + 0.4 * torch.rand(len(waveforms), 1)) + 0.01 * torch.randn_like(waveforms)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--parts", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Encoder().cuda()
    batches = PartialBatches(model, torch.optim.AdamW(model.parameters(), lr=1e-3), args.parts)
    for _ in range(args.steps):
        waveforms = torch.randn(4, 1600)  # step
        batches.add(augmented(waveforms).cuda(), augmented(waveforms).cuda())


if __name__ == "__main__":
    main()
