# SPDX-License-Identifier: Apache-2.0
"""First a backbone is trained, then a head on its features; the backbone stays, its optimizer goes."""

import argparse

import torch
from torch import nn


def fit(model, loss_of, steps):
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        loss = loss_of()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    backbone = nn.Sequential(nn.Linear(200, 512), nn.ReLU(), nn.Linear(512, 64)).cuda()
    outward = nn.Linear(64, 200).cuda()
    both = nn.ModuleList([backbone, outward])

    def rebuild():
        signal = torch.randn(64, 200, device="cuda")
        return nn.functional.mse_loss(outward(backbone(signal)), signal)

    fit(both, rebuild, chosen.steps // 2)

    with torch.no_grad():
        features = backbone(torch.randn(2048, 200, device="cuda"))
    head = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
    labels = torch.randint(10, (2048,), device="cuda")

    def classify():
        drawn = torch.randint(2048, (64,), device="cuda")
        return nn.functional.cross_entropy(head(features[drawn]), labels[drawn])

    fit(head, classify, chosen.steps - chosen.steps // 2)


if __name__ == "__main__":
    main()
