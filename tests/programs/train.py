# SPDX-License-Identifier: Apache-2.0
"""Trains, and says what PyTorch itself counted on each device. What is asked for goes wrong."""

import argparse
import json

import torch
from torch import nn


def make_model(device):
    return nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).to(device)


def forward(model, rows):
    return model(rows)


def fit(device, chosen):
    model = make_model(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    kept = []
    for _ in range(chosen.steps):
        rows = torch.randn(chosen.batch, 1024, device=device)
        loss = forward(model, rows).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if chosen.leak:
            kept.append(rows.clone())  # leaks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--leak", action="store_true")
    parser.add_argument("--killed", action="store_true")
    chosen = parser.parse_args()
    for device in range(chosen.devices):
        fit(f"cuda:{device}", chosen)
    print(json.dumps([
        [torch.cuda.max_memory_allocated(device), torch.cuda.max_memory_reserved(device)]
        for device in range(chosen.devices)
    ]), flush=True)
    if chosen.killed:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
