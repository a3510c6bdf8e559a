# SPDX-License-Identifier: Apache-2.0
"""Audio that is made into spectra a few batches ahead of training, by a generator with a short queue."""

import argparse
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F


def spectra(window):
    while True:
        pieces = torch.randn(24, 8000).cuda().unfold(1, 400, 200) * window
        yield torch.fft.rfft(pieces).abs().mean(1).log1p()


def ahead(source, count):
    waiting = deque()
    for batch in source:
        waiting.append(batch)
        if len(waiting) > count:
            yield waiting.popleft()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(201, 128), nn.SiLU(), nn.Linear(128, 16), nn.SiLU(), nn.Linear(16, 201)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = ahead(spectra(torch.hann_window(400, device="cuda")), count=6)
    for _, batch in zip(range(chosen.steps), batches):
        loss = F.smooth_l1_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
