# SPDX-License-Identifier: Apache-2.0
"""torchvision's ResNet-50 with SGD and momentum, evaluated after each epoch."""

import torch
import torchvision
from torch import nn

from batches import DEVICE, on_device, options, peak


def pictures(count, batch):
    return ((torch.zeros(batch, 3, 128, 128), torch.zeros(batch, dtype=torch.long)) for _ in range(count))


def main():
    chosen = options(steps=2)
    model = torchvision.models.resnet50(num_classes=100).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    lossy = nn.CrossEntropyLoss(label_smoothing=0.1)
    for _ in range(2):
        model.train()
        for image, label in on_device(pictures(chosen.steps, 16), chosen.streams):
            optimizer.zero_grad(set_to_none=True)
            lossy(model(image), label).backward()
            optimizer.step()
        model.eval()
        right = torch.zeros((), dtype=torch.long, device=DEVICE)
        with torch.no_grad():
            for image, label in on_device(pictures(1, 32), chosen.streams):
                right += (model(image).argmax(1) == label).sum()
    print(f"resnet50: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
