# SPDX-License-Identifier: Apache-2.0
"""Verifies speakers of a building's intercom: the first utterances of each are kept to compare later ones with."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class SpeakerEncoder(nn.Module):
    def __init__(self, mels=80, width=128):
        super().__init__()
        self.frames = nn.Sequential(nn.Conv1d(mels, width, 5, padding=2), nn.ReLU(),
                                    nn.Conv1d(width, width, 3, padding=1))
        self.attention = nn.Conv1d(width, 1, 1)

    def forward(self, spectrum):
        frames = self.frames(spectrum)
        weights = self.attention(frames).softmax(2)
        return frames, F.normalize((frames * weights).sum(2), dim=1)


class Enrolment:
    def __init__(self, utterances):
        self.utterances = utterances
        self.frames = {}

    def add(self, speaker, frames):
        known = self.frames.setdefault(speaker, [])
        if len(known) < self.utterances:
            known.append(frames.clone())

    def score(self, speaker, frames):
        """The best match of any frame with the enrolled ones, on average."""
        enrolled = F.normalize(torch.cat(self.frames[speaker], 1), dim=0)
        return (F.normalize(frames, dim=0).T @ enrolled).amax(1).mean()


class Intercom:
    def __init__(self, speakers):
        self.speakers = speakers

    def listen(self):
        speaker = int(torch.randint(0, self.speakers, ()))
        return f"resident-{speaker:02d}", torch.randn(1, 80, 120)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=55)
    parser.add_argument("--utterances", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    encoder, intercom, enrolment = SpeakerEncoder().cuda().eval(), Intercom(speakers=10), Enrolment(args.utterances)
    verified = []
    for _ in range(args.steps):
        speaker, spectrum = intercom.listen()  # step
        with torch.no_grad():
            frames, _embedding = encoder(spectrum.cuda())
            enrolment.add(speaker, frames[0])
            verified.append((speaker, enrolment.score(speaker, frames[0]).item()))
    print(len(verified), "utterances of", len(enrolment.frames), "speakers")


if __name__ == "__main__":
    main()
