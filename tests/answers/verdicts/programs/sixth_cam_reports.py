# SPDX-License-Identifier: Apache-2.0
"""Reads scans that arrive at a clinic, and shows with each finding where in the volume the network looked."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, findings=4):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv3d(1, 8, 3, 2, 1), nn.ReLU())
        self.body = nn.Sequential(nn.Conv3d(8, 16, 3, 2, 1), nn.ReLU())
        self.head = nn.Linear(16, findings)

    def forward(self, volume):
        return self.head(self.body(self.stem(volume)).mean((2, 3, 4)))


class GradCam:
    def __init__(self, model, layer):
        self.model = model
        self.activation = None
        self.heatmap = None
        layer.register_forward_hook(self.note)  # keeps

    def note(self, layer, inputs, output):
        self.activation = output

    def explain(self, volume, finding):
        score = self.model(volume)[0, finding]
        gradient, = torch.autograd.grad(score, self.activation)
        weights = gradient.mean((2, 3, 4), keepdim=True)
        cam = F.relu((weights * self.activation.detach()).sum(1, keepdim=True))
        self.heatmap = F.interpolate(cam, size=volume.shape[2:], mode="trilinear")  # allocates
        return self.heatmap


def report(model, volume):
    with torch.no_grad():
        likely = model(volume).softmax(1).cpu()
    finding = int(likely.argmax())
    heatmap = GradCam(model, model.body).explain(volume, finding)
    overlay = (0.7 * volume + 0.3 * heatmap)[0, 0, ::8].cpu()
    return {"finding": finding, "likelihood": float(likely.max()), "slices": overlay}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Classifier().cuda().eval()
    for number in range(args.steps):
        scan = torch.rand(1, 1, 32, 32, 32)  # step
        reported = report(model, scan.cuda())
        print(number, reported["finding"], tuple(reported["slices"].shape))


if __name__ == "__main__":
    main()
