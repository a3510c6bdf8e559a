# SPDX-License-Identifier: Apache-2.0
"""Self-supervised speech: two crops of an utterance's mel spectrogram are told from those of others."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional

UTTERANCES = 24
SAMPLES = 4000
WINDOW, HOP, BANDS = 256, 128, 64
CROP = 20


class Spectrograms:
    """Log-mel frames of utterances whose speed is changed anew in every epoch."""

    def __init__(self, seed):
        source = torch.Generator().manual_seed(seed)
        self.waves = torch.randn(UTTERANCES, SAMPLES, generator=source)
        self.filters = torch.rand(WINDOW, BANDS).cuda()
        self.cache = {}
        self.seed = seed

    def speed(self, epoch, index):
        return random.Random(f"{self.seed}/{epoch}/{index}").uniform(0.9, 1.1)

    def get(self, epoch, index):
        # Both crops of a step need the same spectrogram.
        key = (epoch, index)
        if key not in self.cache:
            self.cache[key] = self.compute(self.waves[index], self.speed(epoch, index))  # keeps
        return self.cache[key]

    def compute(self, wave, speed):
        places = (torch.arange(SAMPLES) * speed).long().clamp(max=SAMPLES - 1)
        frames = wave[places].cuda().unfold(0, WINDOW, HOP)
        power = (frames @ self.filters).square()
        return power.log1p()  # allocates


class SpeechEncoder(nn.Module):
    def __init__(self, size=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(BANDS, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.project = nn.Linear(48, size)

    def forward(self, crops):
        return functional.normalize(self.project(self.layers(crops).mean(1)), dim=-1)


def crop_batch(spectrograms, epoch, indices, chance):
    crops = []
    for index in indices:
        mel = spectrograms.get(epoch, index)
        start = chance.randrange(len(mel) - CROP + 1)
        crops.append(mel[start:start + CROP])
    return torch.stack(crops)


def contrast(first, second, temperature=0.1):
    scores = first @ second.T / temperature
    labels = torch.arange(len(scores), device=scores.device)
    return functional.cross_entropy(scores, labels)


def batches(chance, size):
    """(epoch, indices) without end."""
    epoch = 0
    while True:
        order = chance.sample(range(UTTERANCES), UTTERANCES)
        for start in range(0, UTTERANCES, size):
            yield epoch, order[start:start + size]
        epoch += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = random.Random(chosen.seed)

    spectrograms, encoder = Spectrograms(chosen.seed), SpeechEncoder().cuda()
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3)
    stream = batches(chance, size=4)
    for step in range(chosen.steps):
        epoch, indices = next(stream)  # step
        views = [crop_batch(spectrograms, epoch, indices, chance) for _ in range(2)]
        loss = contrast(*map(encoder, views))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 18 == 17:
            print(f"epoch {epoch}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
