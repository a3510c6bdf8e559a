# SPDX-License-Identifier: Apache-2.0
"""Trains an image classifier and evaluates it after every few steps with batches of another size."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import resnet18


def images(count, size=160):
    return torch.randn(count, 3, size, size).cuda(), torch.randint(100, (count,)).cuda()


@torch.no_grad()
def evaluate(model, batch, size, total=400):
    model.eval()
    right = 0
    for first in range(0, total, batch):
        pictures, labels = images(min(batch, total - first), size)
        right += (model(pictures).argmax(-1) == labels).sum()
    model.train()
    return right.item() / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    evaluation = 200
    if chosen.change.startswith("evaluation_batch=1/"):
        evaluation //= int(chosen.change.partition("/")[2])
    model = resnet18(num_classes=100).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(12):
        pictures, labels = images(48)
        loss = F.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del loss
        if step % 4 == 3:
            if chosen.change == "add_empty_cache":
                torch.cuda.empty_cache()
            print(f"step {step}: {evaluate(model, evaluation, 224):.3f}")
            if chosen.change == "add_empty_cache":
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
