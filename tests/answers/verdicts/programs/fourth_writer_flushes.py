# SPDX-License-Identifier: Apache-2.0
"""A writer of pictures, which goes to the file whenever it has eleven of them."""

import argparse
import io

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=55)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Writer:
    def __init__(self, file, most=11):
        self.file, self.most, self.waiting = file, most, []

    def add(self, tag, picture):
        self.waiting.append((tag, picture))
        if len(self.waiting) >= self.most:
            self.flush()

    def flush(self):
        for tag, picture in self.waiting:
            self.file.write(f"{tag} {picture.mean().item():.3f}\n")
        self.waiting = []


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(1, 8, 4, 2, 1), nn.ConvTranspose2d(8, 1, 4, 2, 1)

    def forward(self, x):
        return self.up(torch.relu(self.down(x)))


writer, model = Writer(io.StringIO()), AutoEncoder().cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(options.steps):
    x = torch.rand(16, 1, 64, 64, device="cuda")  # step
    made = model(x)
    optimizer.zero_grad()
    (made - x).square().mean().backward()
    optimizer.step()
    writer.add(f"made/{step}", made.detach().clamp(0, 1))  # fills
