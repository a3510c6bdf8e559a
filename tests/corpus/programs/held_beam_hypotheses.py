# SPDX-License-Identifier: Apache-2.0
"""Beam search whose n-best lists go to an archive for rescoring, with the decoder's states in them."""

import argparse
import random
from dataclasses import dataclass, field

import torch
from torch import nn

@dataclass
class Hypothesis:
    state: torch.Tensor
    score: float = 0.0
    words: list[int] = field(default_factory=list)


class Translator(nn.Module):
    def __init__(self, words=300, width=256):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, width), nn.Linear(width, words)
        self.cell = nn.GRUCell(width, width)

    def advance(self, beam):
        """Every hypothesis by one word; the best of all continuations."""
        last = torch.tensor([one.words[-1] if one.words else 0 for one in beam], device="cuda")
        states = self.cell(self.embed(last), torch.stack([one.state for one in beam]))  # allocates
        scores = self.out(states).log_softmax(1) + torch.tensor([[one.score] for one in beam], device="cuda")
        best, places = scores.flatten().topk(8)
        return [
            Hypothesis(states[place // 300], score, [*beam[place // 300].words, place % 300])
            for score, place in zip(best.tolist(), places.tolist())
        ]

    @torch.inference_mode()
    def translate(self, source, length):
        beam = [Hypothesis(self.embed(source).mean(0))]
        for _ in range(length):
            beam = self.advance(beam)
        return beam


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    translator, archive, lengths = Translator().cuda().eval(), {}, 0
    for number in range(chosen.steps):
        source = torch.randint(300, (rng.randrange(5, 30),)).cuda()
        archive[number] = translator.translate(source, rng.randrange(4, 12))  # keeps
        lengths += len(max(archive[number], key=lambda one: one.score).words)
    print(f"{lengths / chosen.steps:.1f} words on average")


if __name__ == "__main__":
    main()
