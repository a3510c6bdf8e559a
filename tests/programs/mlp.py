# SPDX-License-Identifier: Apache-2.0
"""A perceptron, a DataLoader, SGD: the first program of many users. It also empties the cache."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=8)
    samples = TensorDataset(torch.rand(64 * chosen.steps, 100), torch.rand(64 * chosen.steps, 1))
    model = nn.Sequential(nn.Linear(100, 2000), nn.ReLU(), nn.Linear(2000, 2000), nn.ReLU(),
                          nn.Linear(2000, 1)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    loader = DataLoader(samples, batch_size=64, shuffle=True)
    for step, (value, wanted) in enumerate(on_device(loader, chosen.streams)):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(value), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step == chosen.steps // 2:
            torch.cuda.empty_cache()
    print(f"mlp: {len(losses)} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
