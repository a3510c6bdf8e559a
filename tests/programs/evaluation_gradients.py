# SPDX-License-Identifier: Apache-2.0
"""Trains a vision transformer; the validation forgot torch.no_grad()."""

import argparse
import contextlib

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, width=384, layers=8, patch=16, size=224):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, stride=patch)
        self.places = nn.Parameter(torch.zeros(1, (size // patch) ** 2, width))
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, dropout=0.0, batch_first=True,
                                           norm_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 100)

    def forward(self, images):
        tokens = self.patches(images).flatten(2).transpose(1, 2) + self.places
        return self.head(self.layers(tokens).mean(dim=1))


def validate(model, batch, without_gradients):
    model.eval()
    right = 0
    with torch.no_grad() if without_gradients else contextlib.nullcontext():
        for _ in range(4):
            images = torch.randn(batch, 3, 224, 224).cuda()
            labels = torch.randint(100, (batch,)).cuda()
            right += (model(images).argmax(dim=-1) == labels).sum().item()
    model.train()
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = Classifier().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    evaluation = 128
    if chosen.change.startswith("evaluation_batch=1/"):
        evaluation //= int(chosen.change.partition("/")[2])
    for step in range(6):
        images = torch.randn(32, 3, 224, 224).cuda()
        labels = torch.randint(100, (32,)).cuda()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del loss
        if step % 3 == 2:
            print(step, validate(model, evaluation, chosen.change == "evaluation_without_gradients"))


if __name__ == "__main__":
    main()
