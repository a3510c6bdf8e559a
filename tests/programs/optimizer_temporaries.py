# SPDX-License-Identifier: Apache-2.0
"""Trains a wide network on small batches: the peak is inside of the optimizer's step, which works on all
parameters at once."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    kinds = {"optimizer_fused": {"fused": True}, "optimizer_foreach": {"foreach": False}}
    layers = [nn.Sequential(nn.Linear(2048, 2048), nn.LayerNorm(2048), nn.GELU()) for _ in range(40)]
    model = nn.Sequential(*layers, nn.Linear(2048, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, weight_decay=1e-4,
                                **kinds.get(chosen.change, {}))
    for _ in range(6):
        rows = torch.randn(64, 2048).cuda()
        labels = torch.randint(10, (64,)).cuda()
        loss = F.cross_entropy(model(rows), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
