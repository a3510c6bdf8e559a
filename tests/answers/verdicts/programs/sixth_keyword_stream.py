# SPDX-License-Identifier: Apache-2.0
"""Listens for a keyword: a microphone's chunks one after the other, the recurrent state carried from chunk to chunk."""

import argparse

import torch
from torch import nn


class KeywordSpotter(nn.Module):
    def __init__(self, mels=40, width=128, keywords=6):
        super().__init__()
        self.project = nn.Linear(mels, width)
        self.from_input = nn.Linear(width, width)
        self.from_state = nn.Linear(width, width)
        self.output = nn.Linear(width, keywords)

    def forward(self, frames, state):
        frames = torch.relu(self.project(frames))  # allocates
        for frame in frames:
            state = torch.tanh(self.from_input(frame) + self.from_state(state))  # allocates
        return self.output(state), state


class Listener:
    """Several microphones at once; a score is the mean over the last chunks."""

    def __init__(self, model, microphones, smoothing=4):
        self.model = model.eval()
        self.smoothing = smoothing
        self.state = torch.zeros(microphones, 128, device="cuda")
        self.recent = []

    def hear(self, frames):
        logits, self.state = self.model(frames, self.state)  # keeps
        self.recent.append(logits.softmax(-1).cpu())
        self.recent = self.recent[-self.smoothing:]
        return torch.stack(self.recent).mean(0).amax(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--microphones", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    listener = Listener(KeywordSpotter().cuda(), args.microphones)
    for chunk in range(args.steps):
        spectrum = torch.rand(10, args.microphones, 40)  # step
        scores = listener.hear(spectrum.cuda())  # allocates
        if chunk % 15 == 0:
            print(chunk, [round(score, 3) for score in scores.tolist()])


if __name__ == "__main__":
    main()
