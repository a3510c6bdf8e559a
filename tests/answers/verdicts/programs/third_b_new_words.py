# SPDX-License-Identifier: Apache-2.0
"""The vocabulary gets 500 words more when two thirds are done, once: tied head and Adam's moments too."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Language(nn.Module):
    def __init__(self, words=800, width=128):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.body = nn.GRU(width, width, batch_first=True)

    def forward(self, text):
        return self.body(self.words(text))[0] @ self.words.weight.T


def add_words(model, optimizer, count):
    old = model.words.weight
    model.words = nn.Embedding(len(old) + count, old.shape[1], device=old.device)
    with torch.no_grad():
        model.words.weight[:len(old)] = old
    state = optimizer.state.pop(old)
    for group in optimizer.param_groups:
        group["params"] = [model.words.weight if one is old else one for one in group["params"]]
    for name in ("exp_avg", "exp_avg_sq"):
        state[name] = F.pad(state[name], (0, 0, 0, count))
    optimizer.state[model.words.weight] = state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=26)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--grow-at", type=int, default=17)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Language().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        if step == args.grow_at:
            add_words(model, optimizer, 500)
        text = torch.randint(800, (16, 33)).cuda()  # step
        logits = model(text[:, :-1])
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).backward()
        optimizer.step()
    print(f"{model.words.num_embeddings} words")


if __name__ == "__main__":
    main()
