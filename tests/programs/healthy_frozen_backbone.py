# SPDX-License-Identifier: Apache-2.0
"""Trains a head on the features of a frozen 16-bit backbone that runs without gradients."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import resnet18


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    backbone = resnet18()
    backbone.fc = nn.Identity()
    backbone = backbone.half().cuda().eval().requires_grad_(False)
    head = nn.Linear(512, 1000).cuda()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    batch, parts = 32, 2 if chosen.change == "train_batch_half" else 1
    for _ in range(12):
        images, labels = torch.randn(batch, 3, 224, 224).half(), torch.randint(1000, (batch,))
        for some, of_them in zip(images.chunk(parts), labels.chunk(parts)):
            with torch.inference_mode():
                features = backbone(some.cuda())
            loss = F.cross_entropy(head(features.float().clone()), of_them.cuda())
            (loss / parts).backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
