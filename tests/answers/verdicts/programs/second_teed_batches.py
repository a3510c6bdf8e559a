# SPDX-License-Identifier: Apache-2.0
"""One stream of batches for training and for a check at the end: itertools.tee keeps what the check has not seen."""

import argparse
import itertools

import torch
from torch import nn


def batches(rows=64, sensors=160):
    while True:
        signal = torch.randn(rows, sensors)
        yield signal.cuda()  # allocates


def autoencoder(sensors=160, code=16):
    return nn.Sequential(nn.Linear(sensors, 128), nn.ELU(), nn.Linear(128, code),
                         nn.Linear(code, 128), nn.ELU(), nn.Linear(128, sensors)).cuda()


def check(model, rows):
    with torch.no_grad():
        return (model(rows) - rows).abs().max().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = autoencoder()
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
    now, later = itertools.tee(batches())  # keeps
    for rows in itertools.islice(now, args.steps):
        loss = (model(rows) - rows).square().mean()  # step
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, worst {check(model, next(later)):.4f}")


if __name__ == "__main__":
    main()
