# SPDX-License-Identifier: Apache-2.0
"""An auto-decoder: each shape that comes in gets a code of its own, fitted together with the decoder."""

import argparse

import torch
from torch import nn


class Decoder(nn.Module):
    """Signed distances of points, given a shape's code."""

    def __init__(self, code=256):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(code + 3, 64), nn.Softplus(), nn.Linear(64, 1))

    def forward(self, code, points):
        spread = code.mean(0).expand(len(points), -1)
        return self.layers(torch.cat([spread, points], 1)).squeeze(1)


def sphere(count, radius):
    points = torch.randn(count, 3, device="cuda")
    return points, points.norm(dim=1) - radius


class Fitter:
    def __init__(self, decoder, lr=1e-3, rounds=3):
        self.decoder, self.rounds = decoder, rounds
        self.optimizer = torch.optim.Adam(decoder.parameters(), lr=lr)

    def begin(self):
        code = nn.Parameter(torch.zeros(8, 256, device="cuda"))  # allocates
        self.optimizer.add_param_group({"params": [code], "lr": 1e-2})  # keeps
        return code

    def fit(self, radius):
        code = self.begin()
        for _ in range(self.rounds):
            points, distances = sphere(128, radius)
            self.optimizer.zero_grad()
            error = (self.decoder(code, points).clamp(-1, 1) - distances.clamp(-1, 1)).abs().mean()
            (error + 1e-4 * code.square().mean()).backward()
            self.optimizer.step()  # allocates
        return error.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    fitter = Fitter(Decoder().cuda())
    error = 0.0
    for number in range(chosen.steps):
        radius = 0.5 + (number % 7) / 10  # step
        error = fitter.fit(radius)
        if number % 10 == 9:
            print(f"shape {number}: error {error:.4f}")


if __name__ == "__main__":
    main()
