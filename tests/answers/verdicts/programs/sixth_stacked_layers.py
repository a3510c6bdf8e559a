# SPDX-License-Identifier: Apache-2.0
"""Pre-training by gradual stacking: the model begins with two layers and is deepened by a copy of its last one."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.mix(self.norm(x)).cumsum(1) / x.shape[1]
        return x + self.mlp(x)


class StackedModel(nn.Module):
    def __init__(self, vocabulary=500, width=96, layers=2, final_layers=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)
        self.final_layers = final_layers

    def deepen(self):
        if len(self.layers) >= self.final_layers:
            return None
        self.layers.append(copy.deepcopy(self.layers[-1]))
        return self.layers[-1]

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--deepen-every", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = StackedModel().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        tokens = torch.randint(0, 500, (8, 49)).cuda()  # step
        if step and step % args.deepen_every == 0:
            added = model.deepen()
            if added is not None:
                optimizer.add_param_group({"params": added.parameters()})
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("layers", len(model.layers), "loss", loss.item())


if __name__ == "__main__":
    main()
