# SPDX-License-Identifier: Apache-2.0
"""A residual convolutional network with batch normalisation, and SGD with momentum."""

import torch
from torch import nn
from torch.nn import functional as F

from compiling import DEVICE, compiled, finish, options, steps


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Identity() if before == after else nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x):
        y = self.conv1(x)
        y = self.bn1(y)
        y = self.relu(y)
        y = self.conv2(y)
        y = self.bn2(y)
        return self.relu(y + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, width=32, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.stages = nn.Sequential(
            Residual(width, width, 1), Residual(width, width, 1),
            Residual(width, 2 * width, 2), Residual(2 * width, 2 * width, 1),
            Residual(2 * width, 4 * width, 2), Residual(4 * width, 4 * width, 1),
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(4 * width, classes)

    def forward(self, x):
        x = F.relu(self.norm(self.stem(x)))
        x = self.stages(x)
        x = self.pool(x).flatten(1)
        return self.head(x)


def main():
    chosen = options(steps=4)
    model = ResNet().to(DEVICE)
    network = compiled(chosen, model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    pictures = ((torch.rand(32, 3, 32, 32), torch.randint(10, (32,))) for _ in range(chosen.steps))
    for picture, label in steps(pictures):
        loss = F.cross_entropy(network(picture), label)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
