# SPDX-License-Identifier: Apache-2.0
"""Trains a small network from a DataLoader with a worker and pinned batches, as the manual has it."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    parser.parse_args()
    torch.manual_seed(0)

    rows, labels = torch.randn(8192, 128), torch.randint(10, (8192,))
    loader = DataLoader(TensorDataset(rows, labels), batch_size=256, shuffle=True, num_workers=1,
                        pin_memory=True, drop_last=True)
    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 10)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    for batch, target in loader:
        batch, target = batch.cuda(non_blocking=True), target.cuda(non_blocking=True)
        loss = F.cross_entropy(model(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
