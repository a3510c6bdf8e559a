# SPDX-License-Identifier: Apache-2.0
"""Beam search, a word a step: keys and values of four beams get longer and are reordered, until the answer is done."""

import argparse

import torch
from torch import nn

BEAMS, LONGEST = 4, 24


class Model(nn.Module):
    def __init__(self, words=400, width=256):
        super().__init__()
        self.embed, self.qkv = nn.Embedding(words, width), nn.Linear(width, 3 * width)

    def forward(self, word, past):
        query, key, value = self.qkv(self.embed(word)).unsqueeze(1).chunk(3, -1)
        keys = torch.cat([past[0], key], 1) if past else key.contiguous()  # fills
        values = torch.cat([past[1], value], 1) if past else value.contiguous()  # fills
        mixed = (query @ keys.transpose(1, 2)).softmax(-1) @ values
        return (mixed[:, 0] @ self.embed.weight.T).log_softmax(-1), (keys, values)


class Search:
    def __init__(self, model):
        self.model = model
        self.begin()

    def begin(self):
        self.words = torch.zeros(BEAMS * 8, dtype=torch.long, device="cuda")
        self.scores, self.past, self.length = torch.zeros(8, BEAMS, device="cuda"), None, 0

    def step(self):
        logits, past = self.model(self.words, self.past)
        total = (self.scores.view(-1, 1) + logits).view(8, -1)
        self.scores, picks = total.topk(BEAMS)
        source = (picks // 400 + BEAMS * torch.arange(8, device="cuda").unsqueeze(1)).flatten()
        self.words = (picks % 400).flatten()
        self.past = tuple(one.index_select(0, source) for one in past)  # fills
        self.length += 1
        if self.length == LONGEST:
            self.begin()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    with torch.inference_mode():
        search = Search(Model().cuda().eval())
        for _ in range(args.steps):
            search.step()  # step
    print(f"{search.length} words so far")


if __name__ == "__main__":
    main()
