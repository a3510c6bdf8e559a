# SPDX-License-Identifier: Apache-2.0
"""Resumes from a checkpoint, and keeps the best weights aside before it writes them to disk."""

import argparse
import tempfile
from pathlib import Path

import torch
from torch import nn


def make():
    model = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 512)).cuda()
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def save(path, model, optimizer, step):
    best = {name: value.detach().clone() for name, value in model.state_dict().items()}
    torch.save({"model": best, "optimizer": optimizer.state_dict(), "step": step}, path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "last.pt"
        model, optimizer = make()
        save(path, model, optimizer, 0)

        saved = torch.load(path, map_location="cuda")
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        for step in range(saved["step"], chosen.steps):
            signal = torch.randn(64, 512, device="cuda")
            loss = nn.functional.mse_loss(model(signal), signal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if (step + 1) % 8 == 0:
                save(path, model, optimizer, step + 1)


if __name__ == "__main__":
    main()
