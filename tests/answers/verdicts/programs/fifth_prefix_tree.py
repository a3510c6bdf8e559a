# SPDX-License-Identifier: Apache-2.0
"""Serves prompts that are put together from templates; what prompts have in common is computed once."""

import argparse
import itertools
import random

import torch
from torch import nn

SYSTEM = ["be brief", "be kind", "be exact"]
TASK = ["summarize", "translate", "correct"]
STYLE = ["formal", "plain", "technical"]


class Node:
    def __init__(self, states=None):
        self.states = states
        self.children = {}


class PrefixTree:
    def __init__(self, encode):
        self.encode = encode
        self.root = Node()

    def states(self, parts):
        node, found = self.root, []
        for part in parts:
            if part not in node.children:
                node.children[part] = Node(self.encode(part, node.states))
            node = node.children[part]
            found.append(node.states)
        return torch.cat(found)


class Encoder(nn.Module):
    def __init__(self, width=256, tokens=64):
        super().__init__()
        self.tokens = tokens
        self.embed = nn.Embedding(128, width)
        self.mix = nn.Linear(2 * width, width)

    def forward(self, part, before):
        letters = torch.tensor([ord(part[at % len(part)]) for at in range(self.tokens)]).cuda()
        x = self.embed(letters)
        context = torch.zeros_like(x) if before is None else before.mean(0).expand_as(x)
        return torch.tanh(self.mix(torch.cat([x, context], 1)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=17)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    tree = PrefixTree(Encoder().cuda().eval())
    prompts = list(itertools.product(SYSTEM, TASK, STYLE))
    random.shuffle(prompts)
    asked = itertools.cycle(prompts)
    with torch.no_grad():
        for _ in range(args.steps):
            prompt = next(asked)  # step
            print(prompt, tuple(tree.states(prompt).shape))


if __name__ == "__main__":
    main()
