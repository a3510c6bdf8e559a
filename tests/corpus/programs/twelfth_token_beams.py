# SPDX-License-Identifier: Apache-2.0
"""Translates text into code: a recurrent decoder, and for every text of a batch a beam that finds its sequence."""

import argparse

import torch
from torch import nn

WORDS, WIDTH, TEXTS, SIZE, LENGTH = 150, 64, 6, 5, 14


class Beam:
    def __init__(self, size, sos):
        self.size = size
        self.scores = torch.zeros(size, device="cuda")
        self.prev_ks = []
        self.next_ys = [torch.full((size,), sos, device="cuda")]

    def current_state(self):
        return self.next_ys[-1].view(-1, 1)

    def current_origin(self):
        return self.prev_ks[-1]

    def advance(self, word_lk):
        words = word_lk.size(1)
        beam_lk = word_lk + self.scores.unsqueeze(1) if self.prev_ks else word_lk[0]
        self.scores, best = beam_lk.view(-1).topk(self.size, 0, True, True)
        prev_k = best // words  # fills
        next_y = best - prev_k * words  # fills
        self.prev_ks.append(prev_k)
        self.next_ys.append(next_y)

    def hypothesis(self, k=0):
        origins = [origin.tolist() for origin in self.prev_ks]
        tokens = [token.tolist() for token in self.next_ys[1:]]
        written = []
        for place in reversed(range(len(origins))):
            written.append(tokens[place][k % self.size])
            k = origins[place][k % self.size]
        return written[::-1]


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.cell = nn.Embedding(WORDS, WIDTH), nn.GRUCell(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, ids, hidden):
        hidden = self.cell(self.words(ids), hidden)
        return self.out(hidden).log_softmax(-1), hidden


class Translation:
    def __init__(self, decoder, encoded):
        self.decoder = decoder
        self.beams = [Beam(SIZE, sos=1) for _ in range(TEXTS)]
        self.hidden = [row.expand(SIZE, -1) for row in encoded]

    def write(self):
        for number, beam in enumerate(self.beams):
            scores, hidden = self.decoder(beam.current_state().view(-1), self.hidden[number])
            beam.advance(scores)
            self.hidden[number] = hidden.index_select(0, beam.current_origin())


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28, help="tokens")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    encoder, decoder = nn.Linear(32, WIDTH).cuda().eval(), Decoder().cuda().eval()
    written = []
    for step in range(chosen.steps):
        place = step % LENGTH  # step
        if place == 0:
            translation = Translation(decoder, encoder(torch.randn(TEXTS, 32).cuda()))
        translation.write()
        if place == LENGTH - 1:
            written += [beam.hypothesis() for beam in translation.beams]
            translation = None
    print(f"{len(written)} texts translated")


if __name__ == "__main__":
    main()
