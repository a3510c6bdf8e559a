# SPDX-License-Identifier: Apache-2.0
"""A Wasserstein autoencoder: the codes of the recent batches together are drawn to the prior by a kernel distance."""

import argparse

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, pixels, latent):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, 96), nn.GELU(), nn.Linear(96, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 96), nn.GELU(), nn.Linear(96, pixels))

    def encode(self, pictures):
        mean, spread = self.encoder(pictures).chunk(2, -1)
        return mean + spread.exp() * torch.randn_like(mean)  # allocates

    def forward(self, pictures):
        code = self.encode(pictures)
        return code, self.decoder(code)


class RecentCodes:
    """The codes of the last batches, without their gradients: one batch is too few to compare distributions by."""

    def __init__(self, limit):
        self.limit = limit
        self.codes = []

    def together_with(self, code):
        codes = self.codes
        together = torch.cat([*codes[-self.limit:], code])
        codes.append(code.detach())  # keeps
        if len(codes) > self.limit:
            codes = codes[-self.limit:]
        return together


def kernel(left, right):
    scale = 2.0 * left.shape[1]
    return scale / (scale + torch.cdist(left, right).square())


def distance(codes):
    prior = torch.randn_like(codes)
    return kernel(codes, codes).mean() + kernel(prior, prior).mean() - 2 * kernel(codes, prior).mean()


def train_step(model, optimizer, recent, pictures, weight):
    code, painted = model(pictures)
    error = (painted - pictures).square().mean()
    loss = error + weight * distance(recent.together_with(code))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return error.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--weight", type=float, default=10.0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Autoencoder(pixels=144, latent=32).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    recent = RecentCodes(limit=4)
    for step in range(chosen.steps):
        pictures = torch.rand(128, 144, device="cuda")  # step
        error = train_step(model, optimizer, recent, pictures, chosen.weight)
        if step % 10 == 9:
            print(f"step {step + 1}: reconstruction error {error:.4f}")


if __name__ == "__main__":
    main()
