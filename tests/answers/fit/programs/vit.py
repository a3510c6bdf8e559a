# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a ViT-Large/16 on pictures of 768 pixels in fp16 autocast with a GradScaler."""

import argparse

import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, size, width=1024, layers=24, heads=16, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, (size // 16) ** 2 + 1, width))
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, pictures):
        x = self.patches(pictures).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.positions
        return self.head(self.encoder(x)[:, 0])


parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--size", type=int, default=768)
parser.add_argument("--steps", type=int, default=5)
args = parser.parse_args()

with torch.device("cuda"):
    model = ViT(args.size)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
scaler = torch.amp.GradScaler("cuda")
for _ in range(args.steps):
    pictures = torch.randn(args.batch_size, 3, args.size, args.size, device="cuda")
    labels = torch.randint(1000, (args.batch_size,), device="cuda")
    with torch.autocast("cuda", torch.float16):
        loss = nn.functional.cross_entropy(model(pictures), labels, label_smoothing=0.1)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
