# SPDX-License-Identifier: Apache-2.0
"""Trains a generator against a discriminator, each with its own optimizer; --config names a JSON file."""

import argparse
import json

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--config", required=True)
config = json.load(open(parser.parse_args().config))
BATCH, SIZE, NOISE, WIDTH = (config[name] for name in ("batch_size", "image_size", "noise", "width"))


def generator():
    width, size, layers = 16 * WIDTH, 4, [nn.ConvTranspose2d(NOISE, 16 * WIDTH, 4, 1, 0, bias=False)]
    while size < SIZE // 2:
        layers += [nn.BatchNorm2d(width), nn.ReLU(True), nn.ConvTranspose2d(width, max(width // 2, WIDTH), 4, 2, 1, bias=False)]
        width, size = max(width // 2, WIDTH), 2 * size
    return nn.Sequential(*layers, nn.BatchNorm2d(width), nn.ReLU(True), nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Tanh())


def discriminator():
    width, size, layers = WIDTH, SIZE // 2, [nn.Conv2d(3, WIDTH, 4, 2, 1)]
    while size > 4:
        wider = min(2 * width, 16 * WIDTH)
        layers += [nn.LeakyReLU(0.2, True), nn.Conv2d(width, wider, 4, 2, 1, bias=False), nn.BatchNorm2d(wider)]
        width, size = wider, size // 2
    return nn.Sequential(*layers, nn.LeakyReLU(0.2, True), nn.Conv2d(width, 1, 4), nn.Flatten())


with torch.device("cuda"):
    makes, judges = generator(), discriminator()
for_maker = torch.optim.Adam(makes.parameters(), lr=2e-4, betas=(0.5, 0.999))
for_judge = torch.optim.Adam(judges.parameters(), lr=2e-4, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
for _ in range(config["steps"]):
    real = torch.randn(BATCH, 3, SIZE, SIZE, device="cuda")
    ones, zeros = torch.ones(BATCH, 1, device="cuda"), torch.zeros(BATCH, 1, device="cuda")
    made = makes(torch.randn(BATCH, NOISE, 1, 1, device="cuda"))
    for_judge.zero_grad()
    (criterion(judges(real), ones) + criterion(judges(made.detach()), zeros)).backward()
    for_judge.step()
    for_maker.zero_grad()
    criterion(judges(made), ones).backward()
    for_maker.step()
