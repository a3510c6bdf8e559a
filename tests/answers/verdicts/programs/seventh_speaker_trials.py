# SPDX-License-Identifier: Apache-2.0
"""Trains a speaker embedding in epochs of 25 batches, with an error rate over an epoch's utterances at its end."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F

PER_EPOCH, SPEAKERS = 25, 20


class SpeakerNet(nn.Module):
    def __init__(self, mels=24, width=128):
        super().__init__()
        self.frames = nn.Sequential(nn.Conv1d(mels, 48, 5, padding=2), nn.ReLU(), nn.Conv1d(48, 48, 3, padding=1))
        self.embed = nn.Linear(96, width)
        self.speakers = nn.Linear(width, SPEAKERS, bias=False)

    def forward(self, mels):
        hidden = self.frames(mels)
        pooled = torch.cat([hidden.mean(-1), hidden.amax(-1)], 1)
        return self.embed(pooled)


class Trials:
    def __init__(self):
        self.embeddings, self.speakers = [], []

    def add(self, embeddings, speakers):
        self.embeddings.append(F.normalize(embeddings.detach(), dim=1))  # fills
        self.speakers += speakers

    def error_rate(self, threshold=0.5):
        embeddings = torch.cat(self.embeddings)
        speakers = torch.tensor(self.speakers, device="cuda")
        same = speakers[:, None] == speakers[None]
        accepted = embeddings @ embeddings.T > threshold
        return (accepted != same).float().mean().item()

    def clear(self):
        self.embeddings.clear()
        self.speakers.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=35)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model, trials = SpeakerNet().cuda(), Trials()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        speakers = [rng.randrange(SPEAKERS) for _ in range(12)]  # step
        embeddings = model(torch.randn(12, 24, 50, device="cuda"))
        loss = F.cross_entropy(model.speakers(embeddings), torch.tensor(speakers, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        trials.add(embeddings, speakers)
        if (step + 1) % PER_EPOCH == 0:
            print(f"epoch {step // PER_EPOCH}: error rate {trials.error_rate():.3f}")
            trials.clear()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
