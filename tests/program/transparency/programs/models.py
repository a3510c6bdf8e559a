# SPDX-License-Identifier: Apache-2.0
"""A model with some of everything that is named: tied weights, buffers, a ParameterList, a hook."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.weights = nn.ParameterList([nn.Parameter(torch.rand(width, width)) for _ in range(2)])

    def forward(self, x):
        for weight in self.weights:
            x = torch.relu(self.norm(x) @ weight)
        return x


class Model(nn.Module):
    def __init__(self, width=32, words=64):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.Sequential(Block(width), nn.Dropout(0.1), Block(width))
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer("scale", torch.full((1,), 0.5))

    def forward(self, tokens):
        return self.head(self.blocks(self.words(tokens)) * self.scale)


def hook(module, arguments, result):
    """A user's own forward hook; it changes nothing."""


def hooked(device, seed=0):
    torch.manual_seed(seed)
    model = Model().to(device)
    return model, model.blocks.register_forward_hook(hook)


def step(model, optimizer, device):
    tokens = torch.randint(64, (16,)).to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), tokens)
    loss.backward()
    optimizer.step()
    return loss


def optimizers(parameters, device):
    yield "SGD", torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
    yield "AdamW", torch.optim.AdamW(parameters)
    yield "foreach", torch.optim.AdamW(parameters, foreach=True)
    if device != "cpu":
        yield "fused", torch.optim.AdamW(parameters, fused=True)
        yield "capturable", torch.optim.AdamW(parameters, capturable=True)
