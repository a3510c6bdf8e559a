# SPDX-License-Identifier: Apache-2.0
"""Generation that can go back: before each word it puts aside the keys and values as they are then."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Decoder(nn.Module):
    def __init__(self, words=400, width=64):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, width), nn.Linear(width, words)
        self.project = nn.Linear(width, 3 * width)

    def forward(self, words, keys, values):
        query, key, value = self.project(self.embed(words)).chunk(3, -1)
        keys = torch.cat([keys, key], 1)  # allocates
        values = torch.cat([values, value], 1)  # allocates
        seen = F.scaled_dot_product_attention(query, keys, values)
        return self.out(seen[:, -1]), keys, values


class Session:
    def __init__(self, model, prompt):
        self.model, self.words, self.history = model, prompt, []
        empty = torch.empty(len(prompt), 0, 64, device="cuda")
        self.logits, self.keys, self.values = model(prompt, empty, empty)

    def advance(self):
        self.history.append((self.words, self.keys, self.values))  # keeps
        self.words = self.logits.argmax(-1, keepdim=True)
        self.logits, self.keys, self.values = self.model(self.words, self.keys, self.values)

    def rewind(self):
        self.words, self.keys, self.values = self.history.pop()


@torch.inference_mode()
def generate(model, length):
    session = Session(model, torch.randint(400, (8, 32)).cuda())
    for _ in range(length):
        session.advance()
    session.rewind()
    return session.words.flatten().tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    print("last words:", generate(Decoder().cuda().eval(), chosen.steps))


if __name__ == "__main__":
    main()
