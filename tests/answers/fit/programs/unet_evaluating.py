# SPDX-License-Identifier: Apache-2.0
"""Trains a U-Net on pictures of 640 pixels, and evaluates after each epoch with twice the batch."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def double(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, classes=21, widths=(64, 128, 256, 512, 1024)):
        super().__init__()
        self.down = nn.ModuleList(double(a, b) for a, b in zip((3, *widths), widths))
        self.widen = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(double(2 * a, a) for a in widths[:-1])
        self.out = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        kept = []
        for number, layer in enumerate(self.down):
            x = layer(nn.functional.max_pool2d(x, 2) if number else x)
            kept.append(x)
        for widen, layer, skip in zip(reversed(self.widen), reversed(self.up), reversed(kept[:-1])):
            x = layer(torch.cat([skip, widen(x)], dim=1))
        return self.out(x)


parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=2)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--size", type=int, default=640)
args = parser.parse_args()

model = UNet().cuda()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-5, momentum=0.999)
criterion = nn.CrossEntropyLoss()
count = 4 * args.batch_size
data = TensorDataset(torch.zeros(1, 3, args.size, args.size).expand(count, -1, -1, -1),
                     torch.zeros(1, args.size, args.size, dtype=torch.long).expand(count, -1, -1))
for epoch in range(args.epochs):
    model.train()
    for pictures, masks in DataLoader(data, args.batch_size, shuffle=True):
        loss = criterion(model(pictures.cuda()), masks.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for pictures, masks in DataLoader(data, 2 * args.batch_size):
            right += (model(pictures.cuda()).argmax(dim=1) == masks.cuda()).sum().item()
    print(f"epoch {epoch}: {right} pixels right")
