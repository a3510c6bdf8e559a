# SPDX-License-Identifier: Apache-2.0
"""Answers requests with a small decoder; the keys and values of a prompt are kept for whoever sends it again."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, past=None):
        k = self.k(x)  # allocates
        v = self.v(x)  # allocates
        if past is not None:
            k, v = torch.cat([past[0], k], dim=1), torch.cat([past[1], v], dim=1)
        out = F.scaled_dot_product_attention(self.split(self.q(x)), self.split(k), self.split(v), is_causal=past is None)
        return self.o(out.transpose(1, 2).flatten(2)), (k, v)


class Decoder(nn.Module):
    def __init__(self, vocabulary=1000, width=128, heads=4, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Attention(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, past=None):
        x, present = self.embedding(tokens), []
        for index, layer in enumerate(self.layers):
            out, kv = layer(x, past[index] if past else None)
            x = x + out
            present.append(kv)
        return self.head(x[:, -1]), present


class Engine:
    def __init__(self, model):
        self.model = model
        self.prefixes = {}

    @torch.inference_mode()
    def answer(self, prompt, new_tokens=6):
        key = tuple(prompt)
        if key not in self.prefixes:
            self.prefixes[key] = self.model(torch.tensor([prompt], device="cuda"))  # keeps
        logits, past = self.prefixes[key]
        words = []
        for _ in range(new_tokens):
            word = logits.argmax(-1, keepdim=True)
            words.append(word.item())
            logits, past = self.model(word, past)
        return words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    engine = Engine(Decoder().cuda().eval())
    instructions = torch.randint(0, 1000, (16,)).tolist()
    answered = 0
    for _ in range(args.steps):
        question = torch.randint(0, 1000, (32,)).tolist()  # step
        answered += len(engine.answer(instructions + question))
    print(answered, "tokens")


if __name__ == "__main__":
    main()
