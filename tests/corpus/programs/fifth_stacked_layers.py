# SPDX-License-Identifier: Apache-2.0
"""Progressive stacking: a language model begins shallow, and gets a copy of its top layer every few steps."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Stack(nn.Module):
    def __init__(self, width=96, vocabulary=250, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 2 * width, batch_first=True)
                                    for _ in range(depth))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class Stacking:
    def __init__(self, model, optimizer, every, final_depth):
        self.model, self.optimizer, self.every, self.final_depth = model, optimizer, every, final_depth

    def on_step_end(self, step):
        if (step + 1) % self.every == 0 and len(self.model.layers) < self.final_depth:
            self.model.layers.append(copy.deepcopy(self.model.layers[-1]))
            self.optimizer.add_param_group({"params": self.model.layers[-1].parameters()})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=35)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--final-depth", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Stack().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    stacking = Stacking(model, optimizer, every=7, final_depth=args.final_depth)
    for step in range(args.steps):
        tokens = torch.randint(250, (4, 33)).cuda()  # step
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        stacking.on_step_end(step)


if __name__ == "__main__":
    main()
