# SPDX-License-Identifier: Apache-2.0
"""Follows the objects of a video: two come into view with each frame, and each is seen for 34 frames."""

import argparse
from collections import deque
from dataclasses import dataclass, field

import torch
from torch import nn

IN_VIEW, MAX_AGE, GALLERY = 34, 3, 6


@dataclass
class Track:
    number: int
    last_seen: int
    gallery: deque = field(default_factory=lambda: deque(maxlen=GALLERY))

    def look(self, frame, embedding):
        self.last_seen = frame
        self.gallery.append(embedding)

    def appearance(self):
        return torch.stack(list(self.gallery)).mean(0)


class Tracker:
    def __init__(self, embedder):
        self.embedder = embedder
        self.tracks = {}

    def similarity(self, embeddings):
        if not self.tracks:
            return 0.0
        known = torch.stack([track.appearance() for track in self.tracks.values()])
        return (embeddings @ known.T).max().item()

    def update(self, frame, numbers, crops):
        embeddings = self.embedder(crops)
        best = self.similarity(embeddings)
        for number, embedding in zip(numbers, embeddings):
            track = self.tracks.setdefault(number, Track(number, frame))
            track.look(frame, embedding.clone())
        gone = [number for number, track in self.tracks.items() if frame - track.last_seen > MAX_AGE]
        for number in gone:
            del self.tracks[number]
        return best


def visible(frame):
    """The numbers of the objects in this frame."""
    return [2 * entered + which for entered in range(max(0, frame - IN_VIEW + 1), frame + 1) for which in range(2)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    embedder = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(128, 256)).cuda().eval()
    tracker, best = Tracker(embedder), 0.0
    with torch.no_grad():
        for frame in range(chosen.steps):
            numbers = visible(frame)  # step
            crops = torch.rand(len(numbers), 3, 8, 8, device="cuda")
            best = tracker.update(frame, numbers, crops)
    print(f"{len(tracker.tracks)} tracks, best similarity {best:.3f}")


if __name__ == "__main__":
    main()
