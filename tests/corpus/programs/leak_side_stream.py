# SPDX-License-Identifier: Apache-2.0
"""Features are computed ahead on a stream of their own, and every one of them stays in a list that
was meant to keep them alive until the other stream has used them."""

import argparse

import torch
from torch import nn


class FeaturePipeline:
    def __init__(self, backbone):
        self.backbone = backbone
        self.stream = torch.cuda.Stream()
        self.alive = []

    @torch.no_grad()
    def start(self, pictures):
        with torch.cuda.stream(self.stream):
            features = self.backbone(pictures.cuda(non_blocking=True))  # allocates
        self.alive.append(features)  # keeps
        return features

    def wait(self):
        torch.cuda.current_stream().wait_stream(self.stream)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    backbone = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Flatten()).cuda()
    pipeline = FeaturePipeline(backbone)
    head = nn.Linear(8 * 15 * 15, 10).cuda()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    following = pipeline.start(torch.randn(16, 3, 32, 32))
    for step in range(chosen.steps):
        pipeline.wait()
        features = following
        following = pipeline.start(torch.randn(16, 3, 32, 32))
        optimizer.zero_grad()
        head(features).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
