# SPDX-License-Identifier: Apache-2.0
"""Trains a tabular network and validates it with the training's batch, without gradients."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


@torch.no_grad()
def validate(model, batches=5):
    model.eval()
    total = 0.0
    for _ in range(batches):
        rows = torch.randn(4096, 200).cuda()
        target = torch.randn(4096, 1).cuda()
        total += F.mse_loss(model(rows), target).item()
    model.train()
    return total / batches


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = nn.Sequential(nn.Linear(200, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                          nn.Linear(512, 1)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    batch, parts = 4096, {"train_batch_half": 2, "train_batch_quarter": 4}.get(chosen.change, 1)
    for step in range(40):
        rows, target = torch.randn(batch, 200), torch.randn(batch, 1)
        for some, of_them in zip(rows.chunk(parts), target.chunk(parts)):
            with torch.autocast("cuda", torch.bfloat16, enabled=chosen.change == "mixed_precision"):
                loss = F.mse_loss(model(some.cuda()), of_them.cuda())
            (loss / parts).backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 20 == 19:
            print(f"step {step}: {validate(model):.4f}")


if __name__ == "__main__":
    main()
