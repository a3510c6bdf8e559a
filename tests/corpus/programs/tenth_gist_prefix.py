# SPDX-License-Identifier: Apache-2.0
"""Answers questions on prompts that were compressed: keys and values of a few gist tokens stand for each prompt."""

import argparse

import torch
from torch import nn

VOCABULARY, HEADS, HEAD_WIDTH, LAYERS, GIST = 160, 4, 16, 3, 4
WIDTH = HEADS * HEAD_WIDTH


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, past):
        rows, length, _ = x.shape
        split = self.qkv(x).view(rows, length, 3, HEADS, HEAD_WIDTH).permute(2, 0, 3, 1, 4)  # fills
        query, keys, values = split
        if past is not None:
            keys = torch.cat([past[0], keys], dim=2)  # fills
            values = torch.cat([past[1], values], dim=2)  # fills
        weights = torch.softmax(query @ keys.transpose(2, 3) / HEAD_WIDTH ** 0.5, -1)
        return x + self.out((weights @ values).transpose(1, 2).reshape(rows, length, WIDTH)), (keys, values)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY + 1, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])

    def forward(self, input_ids, past_key_values=None):
        hidden, presents = self.embed(torch.tensor([input_ids], device="cuda")), []
        for index, block in enumerate(self.blocks):
            hidden, present = block(hidden, past_key_values[index] if past_key_values else None)
            presents.append(present)
        return hidden @ self.embed.weight.T, presents


def build_gist_cache(model, prompt_ids, k):
    past = model(prompt_ids + [VOCABULARY] * k)[1]
    start = len(prompt_ids)
    return [(keys[:, :, start:start + k], values[:, :, start:start + k]) for keys, values in past]


def generate_with_gist_cache(model, gist_cache, x_ids, max_new_tokens):
    past, answer = gist_cache, []
    for position in range(len(x_ids) + max_new_tokens):
        token = x_ids[position] if position < len(x_ids) else answer[-1]  # step
        logits, past = model([token], past)
        if position >= len(x_ids) - 1:
            answer.append(int(logits[0, -1].argmax()) % VOCABULARY)
    return answer


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Model().cuda().eval()
    question = [7, 31, 12]
    left = chosen.steps
    while left:
        gist_cache = build_gist_cache(model, torch.randint(VOCABULARY, (24,)).tolist(), GIST)
        asked = question[:left]
        new = min(13, left - len(asked))
        print("answer", generate_with_gist_cache(model, gist_cache, asked, new)[:4])
        left -= len(asked) + new


if __name__ == "__main__":
    main()
