# SPDX-License-Identifier: Apache-2.0
"""Trains a ResNet-50 on large pictures in fp32 with SGD and momentum, through cuDNN."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.short = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.body(x) + self.short(x))


def resnet50(classes=1000):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for number, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, 2 if number and not block else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, classes))


class Pictures(Dataset):
    def __init__(self, count, size):
        self.count, self.one = count, torch.zeros(3, size, size)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.one, index % 1000


parser = argparse.ArgumentParser()
parser.add_argument("-b", "--batch-size", type=int, default=2)
parser.add_argument("--size", type=int, default=1280)
parser.add_argument("--steps", type=int, default=5)
args = parser.parse_args()

model = resnet50().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
loader = DataLoader(Pictures(args.batch_size * args.steps, args.size), batch_size=args.batch_size, pin_memory=True)
criterion = nn.CrossEntropyLoss()
for pictures, labels in loader:
    loss = criterion(model(pictures.cuda(non_blocking=True)), labels.cuda(non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
