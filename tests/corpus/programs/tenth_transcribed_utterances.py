# SPDX-License-Identifier: Apache-2.0
"""Transcribes utterances with a transducer: a beam of label sequences is extended frame by frame."""

import argparse
import random
from dataclasses import dataclass

import torch
from torch import nn

FRAMES, WIDTH, LABELS = (16, 12, 20), 96, 30


@dataclass
class Hypothesis:
    score: float
    yseq: tuple
    dec_state: torch.Tensor


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(LABELS, WIDTH)
        self.cell = nn.Linear(2 * WIDTH, WIDTH)

    def score(self, hypothesis, cache):
        """The output after these labels, made once in an utterance."""
        if hypothesis.yseq not in cache:
            label = self.embedding.weight[hypothesis.yseq[-1]]
            output = torch.tanh(self.cell(torch.cat([label, hypothesis.dec_state])))  # fills
            cache[hypothesis.yseq] = output
        return cache[hypothesis.yseq]


class BeamSearch:
    def __init__(self, seed, beam=4):
        self.decoder, self.joint = Decoder().cuda(), nn.Linear(WIDTH, LABELS).cuda()
        self.beam, self.seed = beam, seed

    def start(self):
        # Drawn anew for each utterance: its text does not depend on those before it.
        self.ranks = random.Random(self.seed)
        return [Hypothesis(0.0, (0,), torch.zeros(WIDTH, device="cuda"))]

    def advance(self, kept, frame, cache):
        """The best stays as it is, for a blank; the others are extensions of what there was."""
        extended = []
        for hypothesis in kept:
            output = self.decoder.score(hypothesis, cache)
            self.joint(torch.tanh(output + frame)).log_softmax(0)
            for label in self.ranks.sample(range(1, LABELS), self.beam):
                score = hypothesis.score - self.ranks.expovariate(1.0)
                extended.append(Hypothesis(score, (*hypothesis.yseq, label), output))
        extended.sort(key=lambda one: one.score, reverse=True)
        return [kept[0], *extended[:self.beam - 1]]


@torch.no_grad()
def transcribe(search, steps):
    number, texts = 0, []
    while steps:
        frames = torch.randn(FRAMES[number % len(FRAMES)], WIDTH, device="cuda")
        kept, cache = search.start(), {}
        for frame in frames[:steps]:
            kept = search.advance(kept, frame, cache)  # step
            steps -= 1
        texts.append(max(kept, key=lambda one: one.score).yseq)
        number += 1
    return texts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    texts = transcribe(BeamSearch(chosen.seed), chosen.steps)
    print("labels:", [len(text) - 1 for text in texts])


if __name__ == "__main__":
    main()
