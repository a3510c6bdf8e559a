# SPDX-License-Identifier: Apache-2.0
"""Segments an object in a dark film from frames and events, by matching each frame with the ones before it."""

import argparse

import torch
from torch import nn

CHANNELS, SIDE, FEATURES = 32, 32, 5


class MemoryBank:
    """Holds the features of the previous frames, with the masks that were found in them."""

    def __init__(self, size):
        self.size = size
        self.keys, self.values = [], []

    def put(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        if len(self.keys) > self.size:
            del self.keys[0], self.values[0]

    def read(self, query):
        """What the memory says at each place of the query."""
        keys = torch.stack(self.keys, dim=1).flatten(1)
        values = torch.stack(self.values, dim=1).flatten(1)
        nearness = torch.softmax(query.flatten(1).T @ keys / CHANNELS ** 0.5, dim=-1)
        return (nearness @ values.T).T.view(-1, *query.shape[1:])


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.frames = nn.Conv2d(3, CHANNELS, 3, stride=2, padding=1)
        self.events = nn.Conv2d(2, CHANNELS, 3, stride=2, padding=1)
        self.value = nn.Conv2d(CHANNELS + 1, CHANNELS, 1)
        self.decode = nn.Conv2d(2 * CHANNELS, 1, 3, padding=1)

    def encode(self, frame, events):
        return torch.relu(self.frames(frame) + self.events(events))

    def forward(self, features, recalled):
        return torch.sigmoid(self.decode(torch.cat([features, recalled], dim=1)))

    def remember(self, features, mask):
        return self.value(torch.cat([features, mask], dim=1))


@torch.no_grad()
def segment(model, frames):
    bank = MemoryBank(FEATURES)
    mask = torch.zeros(1, 1, SIDE // 2, SIDE // 2, device="cuda")
    area = 0.0
    for number in range(frames):
        frame = torch.rand(1, 3, SIDE, SIDE, device="cuda")  # step
        features = model.encode(frame, torch.randn(1, 2, SIDE, SIDE, device="cuda"))
        if number:
            mask = model(features, bank.read(features[0])[None])
        bank.put(features[0], model.remember(features, mask)[0])
        area += mask.mean().item()
    return area / frames


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Segmenter().cuda()
    model.eval()
    print(f"the object covers {segment(model, chosen.steps):.3f} of a frame")


if __name__ == "__main__":
    main()
