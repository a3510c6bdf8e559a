# SPDX-License-Identifier: Apache-2.0
"""Trains a detector on one picture at a time, with mixed precision; its size is drawn anew each time."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import resnet18


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        body = list(resnet18().children())[:-2]
        self.body = nn.Sequential(*body)
        self.neck = nn.Conv2d(512, 256, 1)
        self.classes = nn.Conv2d(256, 80, 3, padding=1)
        self.boxes = nn.Conv2d(256, 4, 3, padding=1)

    def forward(self, images):
        features = F.relu(self.neck(self.body(images)))
        return self.classes(features), self.boxes(features)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(3)

    model = Detector().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(40):
        height, width = (32 * draw.randrange(15, 85) for _ in range(2))
        images = torch.randn(1, 3, height, width).cuda()
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            classes, boxes = model(images)
            loss = classes.float().logsumexp(1).mean() + boxes.float().abs().mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
