# SPDX-License-Identifier: Apache-2.0
"""A language model that carries its hidden state from chunk to chunk, detached."""

import argparse

import torch
from torch import nn


class Language(nn.Module):
    def __init__(self, words=500, width=128):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(words, width), nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, tokens, state):
        hidden, state = self.rnn(self.embed(tokens), state)
        return self.out(hidden), state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Language().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    state = None
    for step in range(chosen.steps):
        if step % 25 == 0:
            state = None
        tokens = torch.randint(500, (16, 36), device="cuda")
        scores, state = model(tokens[:, :-1], state)
        state = tuple(part.detach() for part in state)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()


if __name__ == "__main__":
    main()
