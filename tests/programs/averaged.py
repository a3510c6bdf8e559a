# SPDX-License-Identifier: Apache-2.0
"""Averaged weights: AveragedModel with the buffers too, tensor by tensor, and its evaluation."""

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_avg_fn

from batches import DEVICE, on_device, options, peak


def network():
    layers = [nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()]
    for _ in range(3):
        layers += [nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(4096, 1024),
                         nn.ReLU(), nn.Linear(1024, 100))


def main():
    chosen = options(steps=5)
    model = network().to(DEVICE)
    averaged = AveragedModel(model, avg_fn=get_ema_avg_fn(0.99), use_buffers=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = SWALR(optimizer, swa_lr=0.05)
    pictures = [(torch.rand(48, 3, 32, 32), torch.randint(100, (48,))) for _ in range(chosen.steps)]
    for image, label in on_device(pictures, chosen.streams):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(image), label).backward()
        optimizer.step()
        averaged.update_parameters(model)
        schedule.step()
    averaged.eval()
    with torch.no_grad():
        right = sum((averaged(image).argmax(1) == label).sum()
                    for image, label in on_device(pictures, chosen.streams))
    print(f"averaged: {int(right) >= 0}, {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
