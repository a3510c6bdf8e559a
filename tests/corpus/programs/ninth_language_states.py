# SPDX-License-Identifier: Apache-2.0
"""Reads a text piece by piece with a recurrent language model that hands its state from one piece to the next."""

import argparse

import torch
from torch import nn

WIDTH, WORDS, PIECE = 128, 300, 4


class TimeMix(nn.Module):
    """Weighted averages of all values so far, with a decay for each channel."""

    def __init__(self):
        super().__init__()
        self.decay = nn.Parameter(torch.zeros(WIDTH))
        self.key, self.value = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.receptance, self.out = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, hidden, state):
        weights = torch.exp(self.key(hidden))  # allocates
        values = self.value(hidden)  # allocates
        gate = torch.sigmoid(self.receptance(hidden))  # allocates
        kept = torch.exp(-torch.exp(self.decay))  # allocates
        above, below = state
        mixed = []
        for position in range(hidden.shape[1]):
            weighted = weights[:, position] * values[:, position]  # allocates
            above = kept * above + weighted  # allocates
            below = kept * below + weights[:, position]  # allocates
            mixed.append(above / (below + 1e-6))  # allocates
        gated = gate * torch.stack(mixed, 1)  # allocates
        return hidden + self.out(gated), (above, below)  # allocates


class LanguageModel(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(TimeMix() for _ in range(layers))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens, state=None):
        hidden = self.embedding(tokens)  # allocates
        if state is None:
            state = [(torch.zeros(len(tokens), WIDTH, device=tokens.device),) * 2 for _ in self.layers]
        new = []
        for layer, before in zip(self.layers, state):
            hidden, after = layer(hidden, before)
            new.append(after)
        return self.head(hidden), new


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = LanguageModel().cuda().eval()
    text = torch.randint(WORDS, (1, PIECE * chosen.steps))
    state = None
    for start in range(0, text.shape[1], PIECE):
        piece = text[:, start:start + PIECE]  # step
        tokens = piece.cuda()  # allocates
        logits, state = model(tokens, state)  # keeps
        print(start, logits[0, -1].max().item())


if __name__ == "__main__":
    main()
