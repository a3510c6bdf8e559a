# SPDX-License-Identifier: Apache-2.0
"""Momentum contrast: the keys of the latest batches, encoded by a slow copy of the encoder, are the negatives."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class MoCo(nn.Module):
    def __init__(self, encoder, dim=128, negatives=1024, momentum=0.99, temperature=0.2):
        super().__init__()
        self.query_encoder = encoder
        self.key_encoder = copy.deepcopy(encoder).requires_grad_(False)
        self.negatives, self.momentum, self.temperature = negatives, momentum, temperature
        self.register_buffer("queue", F.normalize(torch.randn(negatives, dim), dim=1))

    @torch.no_grad()
    def update_key_encoder(self):
        for slow, fast in zip(self.key_encoder.parameters(), self.query_encoder.parameters()):
            slow.lerp_(fast, 1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        queue = torch.cat([self.queue, keys])  # allocates
        self.queue = queue  # keeps

    def forward(self, first, second):
        q = F.normalize(self.query_encoder(first), dim=1)
        with torch.no_grad():
            self.update_key_encoder()
            k = F.normalize(self.key_encoder(second), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue[-self.negatives:].t()
        logits = torch.cat([positive, negative], dim=1) / self.temperature
        self.enqueue(k)
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long, device=q.device))


def augment(images):
    return images + 0.1 * torch.randn_like(images)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    encoder = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1),
                            nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 128))
    model = MoCo(encoder).cuda()
    optimizer = torch.optim.SGD(model.query_encoder.parameters(), lr=0.03, momentum=0.9)
    for step in range(args.steps):
        images = torch.randn(256, 3, 16, 16).cuda()  # step
        loss = model(augment(images), augment(images))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
