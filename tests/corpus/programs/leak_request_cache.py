# SPDX-License-Identifier: Apache-2.0
"""An inference server that caches the encodings of documents it has seen, and never drops one."""

import argparse
import random

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, words=4000, width=128):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 256, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, tokens):
        return self.encoder(self.embed(tokens))  # allocates


class Server:
    def __init__(self):
        self.model = Encoder().cuda().eval()
        self.score = nn.Bilinear(128, 128, 1).cuda()
        self.encoded = {}

    def document(self, key, tokens):
        if key not in self.encoded:
            self.encoded[key] = self.model(tokens[None].cuda())  # keeps
        return self.encoded[key]

    @torch.inference_mode()
    def rank(self, question, documents):
        asked = self.model(question[None].cuda()).mean(1)
        scores = [self.score(asked, self.document(key, text).mean(1)).item() for key, text in documents]
        return max(range(len(scores)), key=scores.__getitem__)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    server, published = Server(), 20
    for request in range(chosen.steps):
        published += rng.randrange(1, 4)  # news come in all the time, and people ask for the latest
        keys = {max(0, published - 1 - int(rng.expovariate(0.2))) for _ in range(6)}
        documents = [(key, torch.randint(4000, (64 + key % 64,))) for key in sorted(keys)]
        server.rank(torch.randint(4000, (rng.randrange(6, 20),)), documents)


if __name__ == "__main__":
    main()
