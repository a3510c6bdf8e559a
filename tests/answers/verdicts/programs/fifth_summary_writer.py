# SPDX-License-Identifier: Apache-2.0
"""An autoencoder whose reconstructions are written for a dashboard: noted as they come, written in bulk."""

import argparse
import io

import torch
import torch.nn.functional as F
from torch import nn


class SummaryWriter:
    def __init__(self, stream, flush_every=4):
        self.stream, self.flush_every = stream, flush_every
        self.pending = []
        self.since_flush = 0

    def add_images(self, tag, images, step):
        self.pending.append((tag, step, images))  # keeps
        self.since_flush += 1
        if self.since_flush >= self.flush_every:
            self.flush()

    def flush(self):
        for tag, step, images in self.pending[-self.since_flush:]:
            pixels = images.clamp(0, 1).mul(255).byte().cpu()
            self.stream.write(f"{tag}\t{step}\t{tuple(pixels.shape)}\n")
        self.since_flush = 0


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 16, 4, stride=2, padding=1), nn.ReLU(),
                                     nn.Conv2d(16, 8, 4, stride=2, padding=1))
        self.decoder = nn.Sequential(nn.ConvTranspose2d(8, 16, 4, stride=2, padding=1), nn.ReLU(),
                                     nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Autoencoder().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    writer = SummaryWriter(io.StringIO())
    for step in range(args.steps):
        images = torch.rand(8, 3, 64, 64).cuda()  # step
        restored = model(images)
        loss = F.mse_loss(restored, images)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 3 == 0:
            shown = torch.cat([images[:2], restored[:2].detach()])  # allocates
            writer.add_images("restored", shown, step)
    writer.flush()


if __name__ == "__main__":
    main()
