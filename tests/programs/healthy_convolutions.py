# SPDX-License-Identifier: Apache-2.0
"""Trains a ResNet-18 with mixed precision, pictures of one size and a fused optimizer."""

import argparse

import torch
from torch.nn import functional as F
from torchvision.models import resnet18


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = resnet18(num_classes=10).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
    batch, parts = 64, {"train_batch_half": 2, "train_batch_quarter": 4}.get(chosen.change, 1)
    for _ in range(10):
        images = torch.randn(batch, 3, 128, 128)
        labels = torch.randint(10, (batch,))
        optimizer.zero_grad()
        for some, of_them in zip(images.chunk(parts), labels.chunk(parts)):
            some, of_them = some.cuda(), of_them.cuda()
            with torch.autocast("cuda", torch.bfloat16):
                loss = F.cross_entropy(model(some), of_them)
            (loss / parts).backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
