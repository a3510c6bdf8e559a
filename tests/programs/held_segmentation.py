# SPDX-License-Identifier: Apache-2.0
"""Trains a segmentation network and validates it with eight times the training's batch."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def network(width=48, classes=19):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
        nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(inplace=True),
        nn.Upsample(scale_factor=2), nn.Conv2d(2 * width, classes, 1))


@torch.no_grad()
def validate(model, batch, total=64):
    model.eval()
    right = 0
    for _ in range(total // batch):
        pictures = torch.randn(batch, 3, 256, 256).cuda()
        labels = torch.randint(19, (batch, 256, 256)).cuda()
        probabilities = F.softmax(model(pictures), dim=1)
        right += (probabilities.argmax(dim=1) == labels).sum().item()
        del probabilities
    model.train()
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    evaluation = 32
    if chosen.change.startswith("evaluation_batch=1/"):
        evaluation //= int(chosen.change.partition("/")[2])
    model = network().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for step in range(10):
        pictures = torch.randn(4, 3, 256, 256).cuda()
        labels = torch.randint(19, (4, 256, 256)).cuda()
        loss = F.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            print(f"step {step}: {validate(model, evaluation)}")


if __name__ == "__main__":
    main()
