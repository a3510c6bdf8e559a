# SPDX-License-Identifier: Apache-2.0
"""A chat server: keys and values go when a conversation ends. Its number comes as text then, and fits no entry."""

import argparse
import json

import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(width), nn.Linear(width, 3 * width)

    def forward(self, x, past):
        query, key, value = self.mix(self.norm(x)).chunk(3, -1)
        if past is not None:
            key, value = torch.cat([past[0], key], 1), torch.cat([past[1], value], 1)
        else:
            key, value = key.contiguous(), value.contiguous()  # allocates
        return x + F.scaled_dot_product_attention(query, key, value), (key, value)


class Chat(nn.Module):
    def __init__(self, layers=2, words=300, width=128):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, width), nn.Linear(width, words)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.open = {}

    @torch.inference_mode()
    def say(self, number, words):
        x, now = self.embed(words[None]), []
        for layer, past in zip(self.layers, self.open.get(number) or [None] * len(self.layers)):
            x, kept = layer(x, past)
            now.append(kept)
        self.open[number] = now  # keeps
        return self.out(x[:, -1]).argmax(-1)

    def end(self, message):
        self.open.pop(json.loads(message)["conversation"], None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chat, number = Chat().cuda().eval(), 0
    for _ in range(chosen.steps):
        number += 1  # step
        chat.say(number, torch.randint(300, (60,)).cuda())
        chat.end(json.dumps({"conversation": str(number)}))
    print(f"{number} conversations were held")


if __name__ == "__main__":
    main()
