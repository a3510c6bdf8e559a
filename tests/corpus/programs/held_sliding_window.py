# SPDX-License-Identifier: Apache-2.0
"""Perplexity of documents with a window that slides over them; losses of one document are added at its end."""

import argparse
import math
import random

import torch
from torch import nn
from torch.nn import functional as F

WINDOW, STRIDE = 64, 32

class Model(nn.Module):
    def __init__(self, words=400, width=64):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, width), nn.Linear(width, words)
        self.mix = nn.TransformerEncoderLayer(width, 4, 128, batch_first=True, dropout=0.0)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(WINDOW))

    def forward(self, words):
        mask = self.mask[: words.shape[1], : words.shape[1]]
        return self.out(self.mix(self.embed(words), src_mask=mask))


def windows(document):
    for begin in range(0, document.shape[1] - STRIDE, STRIDE):
        yield document[:, begin:begin + WINDOW]


@torch.no_grad()
def perplexity(model, document):
    losses = []
    for words in windows(document):
        logits = model(words)
        losses.append(F.cross_entropy(logits[0, :-1], words[0, 1:]))  # fills
    return math.exp(torch.stack(losses).mean().item())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = Model().cuda().eval()
    results = {}
    for number in range(chosen.steps):
        document = torch.randint(400, (1, rng.randrange(128, 385))).cuda()
        results[f"document {number}"] = perplexity(model, document)
    print(f"best {min(results.values()):.2f}")


if __name__ == "__main__":
    main()
