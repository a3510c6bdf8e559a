# SPDX-License-Identifier: Apache-2.0
"""Text classification; each evaluation wraps forward() so that the inputs of the last call can be shown."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=46)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(2000, 64)
        self.out = nn.Linear(64, 4)

    def forward(self, tokens):
        return self.out(self.table(tokens))


def with_inputs(forward, example):
    def wrapped(tokens):
        wrapped.shown = example  # keeps
        return forward(tokens)
    return wrapped


def evaluate(model):
    example = torch.randint(0, 2000, (256, 512), device="cuda")  # allocates
    model.forward = with_inputs(model.forward, example)
    with torch.no_grad():
        return model(example).argmax(1).tolist()[:3]


model = Classifier().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(options.steps):
    tokens = torch.randint(0, 2000, (64, 128), device="cuda")  # step
    optimizer.zero_grad()
    F.cross_entropy(model(tokens), torch.zeros(64, dtype=torch.long, device="cuda")).backward()
    optimizer.step()
    if step % 3 == 2:
        evaluate(model)
