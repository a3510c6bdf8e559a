# SPDX-License-Identifier: Apache-2.0
"""Translates sentences token by token with a transformer decoder, four hypotheses at a time."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

BEAM, WIDTH, WORDS, LENGTHS = 4, 128, 200, (18, 24, 14)


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.source = (nn.MultiheadAttention(WIDTH, 4, batch_first=True) for _ in range(2))
        self.feed = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH))

    @staticmethod
    def attend(layer, query, known):
        weight, bias = layer.in_proj_weight, layer.in_proj_bias
        key, value = F.linear(known, weight[WIDTH:], bias[WIDTH:]).chunk(2, 2)
        scores = F.linear(query, weight[:WIDTH], bias[:WIDTH]) @ key.transpose(1, 2) / WIDTH ** 0.5
        return layer.out_proj(F.softmax(scores, 2) @ value)

    def forward(self, tgt, memory, cache=None):
        """Only the newest token is computed; the outputs of those before it are in the cache."""
        query = tgt[:, -1:]
        x = query + self.attend(self.own, query, tgt)
        x = x + self.attend(self.source, x, memory)
        x = x + self.feed(x)
        return x if cache is None else torch.cat([cache, x], 1)  # fills


class Decoder(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.decoders = nn.ModuleList([DecoderLayer() for _ in range(layers)])
        self.output_layer = nn.Linear(WIDTH, WORDS)

    def forward_one_step(self, ys, memory, cache=None):
        x, new_cache = self.embed(ys), []
        for c, decoder in zip(cache or [None] * len(self.decoders), self.decoders):
            x = decoder(x, memory, cache=c)
            new_cache.append(x)
        return torch.log_softmax(self.output_layer(x[:, -1]), 1), new_cache


@torch.no_grad()
def translate(decoder, steps):
    done, sentences = 0, 0
    while done < steps:
        memory = torch.randn(BEAM, 12, WIDTH, device="cuda")
        ys, scores, states = torch.zeros(BEAM, 1, dtype=torch.long, device="cuda"), 0, None
        for _ in range(min(LENGTHS[sentences % len(LENGTHS)], steps - done)):
            logp, states = decoder.forward_one_step(ys, memory, states)  # step
            best, words = logp.max(1)
            scores, ys = scores + best, torch.cat([ys, words[:, None]], 1)
            done += 1
        sentences += 1
    return sentences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    print("sentences:", translate(Decoder().cuda().eval(), chosen.steps))


if __name__ == "__main__":
    main()
