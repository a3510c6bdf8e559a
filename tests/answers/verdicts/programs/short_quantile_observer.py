# SPDX-License-Identifier: Apache-2.0
"""Calibration for int8: the range of each layer is a quantile, for which all magnitudes are kept."""

import argparse

import torch
from torch import nn


class Observed(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.seen = layer, []

    def forward(self, rows):
        output = self.layer(rows)
        magnitudes = output.abs()  # allocates
        self.seen.append(magnitudes)  # keeps
        return output

    def scale(self, share=0.999):
        values = torch.cat([one.flatten() for one in self.seen]).cpu()
        return values.kthvalue(int(share * len(values))).values.item() / 127


@torch.no_grad()
def calibrate(model, batches):
    for _ in range(batches):
        model(torch.randn(64, 80, device="cuda"))
    return [layer.scale() for layer in model if isinstance(layer, Observed)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(Observed(nn.Linear(80, 256)), nn.ReLU(), Observed(nn.Linear(256, 64))).cuda().eval()
    print("scales:", " ".join(f"{scale:.4f}" for scale in calibrate(model, chosen.steps)))


if __name__ == "__main__":
    main()
