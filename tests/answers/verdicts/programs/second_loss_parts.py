# SPDX-License-Identifier: Apache-2.0
"""A variational autoencoder; three parts of its loss are noted for a plot, as tensors of one number each."""

import argparse
from collections import defaultdict

import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, code=20):
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(1, 32, 4, 2, 1), nn.ReLU(), nn.Conv2d(32, 64, 4, 2, 1), nn.ReLU(),
                                    nn.Flatten(), nn.Linear(64 * 7 * 7, 2 * code))
        self.decode = nn.Sequential(nn.Linear(code, 64 * 7 * 7), nn.Unflatten(1, (64, 7, 7)),
                                    nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU(),
                                    nn.ConvTranspose2d(32, 1, 4, 2, 1))

    def forward(self, x):
        mean, spread = self.encode(x).chunk(2, 1)
        code = mean + (spread / 2).exp() * torch.randn_like(mean)
        return self.decode(code), mean, spread


def parts_of(x, made, mean, spread, beta=0.5):
    wrong = F.binary_cross_entropy_with_logits(made, x)  # allocates
    far = -0.5 * (1 + spread - mean.square() - spread.exp()).mean()  # allocates
    total = wrong + beta * far  # allocates
    return {"reconstruction": wrong, "divergence": far, "total": total}


class Curves:
    def __init__(self):
        self.points = defaultdict(list)

    def add(self, parts):
        for name, value in parts.items():
            self.points[name].append(value.detach())  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    vae, curves = VAE().cuda(), Curves()
    optimizer = torch.optim.Adam(vae.parameters(), lr=1e-3)
    for step in range(args.steps):
        x = torch.rand(128, 1, 28, 28).cuda()  # step
        parts = parts_of(x, *vae(x))
        optimizer.zero_grad()
        parts["total"].backward()
        optimizer.step()
        curves.add(parts)
    print({name: f"{values[-1].item():.3f}" for name, values in curves.points.items()})


if __name__ == "__main__":
    main()
