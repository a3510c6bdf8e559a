# SPDX-License-Identifier: Apache-2.0
"""Captions pictures by beam search; a step is a word, and a caption has fifteen of them."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocabulary=300, width=512):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.cell = nn.Linear(2 * width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, words, state):
        state = torch.tanh(self.cell(torch.cat([self.embed(words), state], 1)))  # fills
        return F.log_softmax(self.head(state), 1), state


class BeamSearch:
    def __init__(self, decoder, beams=24, longest=15):
        self.decoder, self.beams, self.longest = decoder, beams, longest
        self.picture = 0
        self.begin()

    def begin(self):
        self.state = torch.randn(self.beams, 512).cuda()
        self.words = torch.zeros(self.beams, dtype=torch.long, device="cuda")
        self.scores = torch.zeros(self.beams, device="cuda")
        self.states, self.parents = [], []

    def step(self):
        logarithms, state = self.decoder(self.words, self.state)
        self.states.append(state)
        best = (self.scores[:, None] + logarithms).flatten().topk(self.beams)
        parent = best.indices // logarithms.shape[1]
        self.parents.append(parent)
        self.words, self.scores = best.indices % logarithms.shape[1], best.values
        self.state = state.index_select(0, parent)
        if len(self.states) == self.longest:
            self.end()

    def end(self):
        alignment = torch.stack([state[0] for state in self.states])
        print(self.picture, tuple(alignment.shape))
        self.picture += 1
        self.begin()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=43)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    search = BeamSearch(Decoder().cuda().eval())
    with torch.no_grad():
        for _ in range(args.steps):
            search.step()  # step


if __name__ == "__main__":
    main()
