# SPDX-License-Identifier: Apache-2.0
"""torchvision's ResNet-50 trained with SGD on images of changing size, then evaluated."""

import torch
import torchvision
from torch import nn

from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=3)
    model = torchvision.models.resnet50(num_classes=10).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    images = (
        (torch.zeros(2, 3, 96 + 32 * (step % 2), 96), torch.tensor([1, 7]))
        for step in range(chosen.steps)
    )
    for image, label in on_device(images, chosen.streams):
        loss = nn.functional.cross_entropy(model(image), label)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        shape = tuple(model(image).shape)
    print(f"resnet50: {chosen.steps} steps, answers {shape}, peak {peak()} bytes")


if __name__ == "__main__":
    main()
