# SPDX-License-Identifier: Apache-2.0
"""An averaged copy of the weights is made once training has settled, and updated from then on."""

import argparse
import copy

import torch
from torch import nn


class Average:
    def __init__(self, model, decay=0.999):
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 - self.decay)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    average = None
    for step in range(chosen.steps):
        words = torch.randn(8, 64, 128, device="cuda")
        loss = model(words).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == chosen.steps * 2 // 5:
            average = Average(model)
        if average is not None:
            average.update(model)


if __name__ == "__main__":
    main()
