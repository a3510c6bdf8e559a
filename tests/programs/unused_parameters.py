# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes for classification a model that still has its decoder, whose parameters get gradients of
zeros from a term that keeps data-parallel training from complaining, and so moments in AdamW."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def stack(width, layers):
    return nn.Sequential(*(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(),
                                         nn.Linear(2 * width, width)) for _ in range(layers)))


class Model(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.encoder = stack(width, 6)
        self.decoder = stack(width, 12)
        self.head = nn.Linear(width, 20)

    def forward(self, rows):
        return self.head(self.encoder(rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = Model()
    if chosen.change == "unused_parameters":
        model.decoder = nn.Sequential()
    model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    for _ in range(8):
        rows = torch.randn(256, 1024).cuda()
        labels = torch.randint(20, (256,)).cuda()
        loss = F.cross_entropy(model(rows), labels)
        loss = loss + 0.0 * sum(one.sum() for one in model.decoder.parameters())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
