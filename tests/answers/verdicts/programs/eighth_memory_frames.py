# SPDX-License-Identifier: Apache-2.0
"""Follows an object through video clips: each frame is segmented by attending to earlier frames and masks."""

import argparse
from collections import defaultdict

import torch
from torch import nn

FRAMES = 5  # of a clip
SIDE = 24


class Encoder(nn.Sequential):
    def __init__(self, channels, features):
        super().__init__(
            nn.Conv2d(channels, 12, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(12, features, 3, padding=1),
        )


class FrameMemory:
    def __init__(self):
        self.keys = defaultdict(list)
        self.values = defaultdict(list)

    def write(self, clip, key, value):
        self.keys[clip].append(key)
        self.values[clip].append(value)  # keeps

    def read(self, clip, query):
        keys, values = torch.cat(self.keys[clip], 1), torch.cat(self.values[clip], 1)
        weights = torch.softmax(query.T @ keys / query.shape[0] ** 0.5, dim=-1)
        return values @ weights.T

    def finish(self, clip):
        self.keys.pop(clip)


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.key_encoder = Encoder(3, 8)
        self.value_encoder = Encoder(4, 16)
        self.head = nn.Conv2d(16, 1, 1)

    def start(self, memory, clip, frame, mask):
        self.remember(memory, clip, self.key_encoder(frame).flatten(2)[0], frame, mask)

    def track(self, memory, clip, frame):
        query = self.key_encoder(frame).flatten(2)[0]
        found = memory.read(clip, query).view(1, 16, SIDE, SIDE)
        mask = self.head(found).sigmoid()
        self.remember(memory, clip, query, frame, mask)
        return mask

    def remember(self, memory, clip, key, frame, mask):
        value = self.value_encoder(torch.cat([frame, mask], 1))  # allocates
        memory.write(clip, key, value.flatten(2)[0])


@torch.inference_mode()
def follow(model, steps):
    memory, areas = FrameMemory(), []
    for step in range(steps):
        frame = torch.rand(1, 3, SIDE, SIDE, device="cuda")  # step
        number, position = divmod(step, FRAMES)
        clip = f"clip{number:04}"
        if position == 0:
            model.start(memory, clip, frame, torch.ones(1, 1, SIDE, SIDE, device="cuda"))
        else:
            areas.append(model.track(memory, clip, frame).mean().item())
        if position == FRAMES - 1:
            memory.finish(clip)
    return areas


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    areas = follow(Segmenter().cuda().eval(), chosen.steps)
    print(f"mean area over {len(areas)} frames: {sum(areas) / len(areas):.3f}")


if __name__ == "__main__":
    main()
