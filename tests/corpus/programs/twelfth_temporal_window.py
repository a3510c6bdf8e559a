# SPDX-License-Identifier: Apache-2.0
"""Watches a camera: features of each frame go into a buffer, a temporal encoder looks at the buffered ones together."""

import argparse

import torch
from torch import nn


class TemporalBuffer:
    """The most recent frames."""

    def __init__(self, buffer_size):
        self.buffer_size = buffer_size
        self.buffer = []

    def add_frame(self, frame):
        self.buffer.append(frame)
        if len(self.buffer) > self.buffer_size:
            self.buffer.pop(0)

    def get_sequence(self):
        if len(self.buffer) < self.buffer_size:
            return None
        return torch.stack(self.buffer, dim=0)


class TemporalEncoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.cell = nn.Conv2d(2 * channels, channels, 3, padding=1)
        self.motion = nn.Sequential(nn.Conv2d(channels, 2, 1), nn.Tanh())

    def forward(self, frames):
        hidden = torch.zeros_like(frames[:1])
        for frame in frames.split(1):
            hidden = torch.tanh(self.cell(torch.cat([frame, hidden], 1)))
        return self.motion(hidden)


class Watcher:
    def __init__(self, channels=32, window=10):
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
                                      nn.Conv2d(16, channels, 3, stride=2, padding=1), nn.ReLU()).cuda().eval()
        self.encoder = TemporalEncoder(channels).cuda().eval()
        self.buffer = TemporalBuffer(window)

    @torch.no_grad()
    def see(self, image):
        features = self.backbone(image.cuda().unsqueeze(0)).squeeze(0)
        self.buffer.add_frame(features)
        frames = self.buffer.get_sequence()
        return None if frames is None else self.encoder(frames).abs().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15, help="frames")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    watcher = Watcher()
    moved = []
    for _ in range(chosen.steps):
        image = torch.rand(3, 112, 112)  # step
        motion = watcher.see(image)
        if motion is not None:
            moved.append(motion)
    print(f"{len(moved)} of {chosen.steps} frames judged")


if __name__ == "__main__":
    main()
