# SPDX-License-Identifier: Apache-2.0
"""Action recognition on short clips; decoded clips stay on the GPU so that a video drawn again need not be decoded."""

import argparse
import random
from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional

VIDEOS = 160
ACTIONS = 12


def decode(video):
    """Stands for a decoder: 8 frames of 16 x 16."""
    source = torch.Generator().manual_seed(video)
    return torch.rand(3, 8, 16, 16, generator=source)


class ClipCache:
    def __init__(self, budget):
        self.budget = budget  # bytes
        self.size = 0
        self.clips = OrderedDict()
        self.hits = self.misses = 0

    def __getitem__(self, video):
        if video in self.clips:
            self.hits += 1
            self.clips.move_to_end(video)
            return self.clips[video]
        self.misses += 1
        clip = decode(video)
        self.make_room(clip.nbytes)
        self.clips[video] = clip.cuda()
        self.size += clip.nbytes
        return self.clips[video]

    def make_room(self, needed):
        while self.clips and self.size + needed > self.budget:
            _, oldest = self.clips.popitem(last=False)
            self.size -= oldest.nbytes


class ActionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.spatial = nn.Conv2d(3, 10, 3, stride=2, padding=1)
        self.temporal = nn.Linear(8 * 10, 32)
        self.classify = nn.Linear(32, ACTIONS)

    def forward(self, clips):
        frames = clips.transpose(1, 2).flatten(0, 1)
        features = functional.relu(self.spatial(frames)).mean((2, 3)).view(len(clips), -1)
        return self.classify(functional.relu(self.temporal(features)))


def train_step(model, optimizer, cache, videos):
    clips = torch.stack([cache[video] for video in videos])
    labels = torch.tensor([video % ACTIONS for video in videos], device="cuda")
    loss = functional.cross_entropy(model(clips), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache-bytes", type=int, default=2_000_000)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = random.Random(chosen.seed)

    model, cache = ActionNet().cuda(), ClipCache(chosen.cache_bytes)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        videos = [chance.randrange(VIDEOS) for _ in range(2)]  # step
        loss = train_step(model, optimizer, cache, videos)
        if step % 14 == 13:
            print(f"step {step + 1}: loss {loss:.3f}, {cache.hits} of {cache.hits + cache.misses} clips were there")


if __name__ == "__main__":
    main()
