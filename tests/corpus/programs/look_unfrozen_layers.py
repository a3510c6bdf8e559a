# SPDX-License-Identifier: Apache-2.0
"""Fine-tuning that thaws the backbone block by block, as ULMFiT does."""

import argparse

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(3 if n == 0 else 32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
            for n in range(3)
        )
        self.widen = nn.Linear(32, 2048)
        self.head = nn.Linear(2048, 100)

    def forward(self, pictures):
        for block in self.blocks:
            pictures = block(pictures)
        return self.head(torch.relu(self.widen(pictures.mean((2, 3)))))


def thaw(model, optimizer, module):
    for parameter in module.parameters():
        parameter.requires_grad_(True)
    optimizer.add_param_group({"params": list(module.parameters()), "lr": 1e-4})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Classifier().cuda()
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-3)
    thaws = {chosen.steps // 3: model.widen, chosen.steps // 2: model.blocks}
    for step in range(chosen.steps):
        if step in thaws:
            thaw(model, optimizer, thaws[step])
        pictures = torch.randn(16, 3, 32, 32, device="cuda")
        labels = torch.randint(100, (16,), device="cuda")
        loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
