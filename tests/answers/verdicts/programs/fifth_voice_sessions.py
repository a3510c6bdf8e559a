# SPDX-License-Identifier: Apache-2.0
"""Serves speech recognition: sessions of four chunks each, encoded as they come in."""

import argparse
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Session:
    number: int
    encoded: list = field(default_factory=list)
    words: int = 0


class Recognizer:
    def __init__(self, chunks_per_session=4):
        self.encoder = nn.Sequential(nn.Linear(80, 256), nn.ReLU(), nn.Linear(256, 256)).cuda().eval()
        self.words = nn.Linear(256, 500).cuda().eval()
        self.chunks_per_session = chunks_per_session
        self.open = None
        self.closed = {}

    def feed(self, chunk):
        if self.open is None:
            self.open = Session(len(self.closed))
        states = self.encoder(chunk.cuda())  # allocates
        self.open.encoded.append(states)
        self.open.words += int(self.words(states).argmax(-1).shape[0])
        if len(self.open.encoded) == self.chunks_per_session:
            self.close()

    def close(self):
        self.closed[self.open.number] = self.open  # keeps
        self.open = None

    def words_so_far(self):
        return sum(session.words for session in self.closed.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    recognizer = Recognizer()
    with torch.inference_mode():
        for _ in range(args.steps):
            chunk = torch.randn(100, 80)  # step
            recognizer.feed(chunk)
    print(recognizer.words_so_far(), "words")


if __name__ == "__main__":
    main()
