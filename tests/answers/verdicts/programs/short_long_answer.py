# SPDX-License-Identifier: Apache-2.0
"""One long answer: each word adds to the keys and values of three layers, up to the longest answer allowed."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, words, cache):
        query, key, value = self.project(words).chunk(3, -1)
        if cache:
            key, value = torch.cat([cache[0], key], 1), torch.cat([cache[1], value], 1)  # fills
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=not cache)
        return words + self.out(mixed), (key, value)


class Decoder(nn.Module):
    def __init__(self, words=256, width=96, layers=3):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))

    @torch.inference_mode()
    def answer(self, prompt, maximum):
        words, cache, answer = prompt, [None] * len(self.layers), []
        while len(answer) < maximum:
            hidden = self.embed(words)
            for number, layer in enumerate(self.layers):
                hidden, cache[number] = layer(hidden, cache[number])
            words = (hidden[:, -1:] @ self.embed.weight.T).argmax(-1)
            answer.append(words[:, 0].tolist())
        return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    answer = Decoder().cuda().eval().answer(torch.randint(256, (16, 12)).cuda(), chosen.steps)
    print(f"{len(answer)} words each, the last are {answer[-1][:4]}")


if __name__ == "__main__":
    main()
