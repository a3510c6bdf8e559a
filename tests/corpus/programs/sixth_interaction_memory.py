# SPDX-License-Identifier: Apache-2.0
"""A temporal graph network of users and items: messages wait until their node's memory is next needed."""

import argparse
from collections import defaultdict

import torch
from torch import nn
from torch.nn import functional as F


class Messages:
    def __init__(self):
        self.of_node = defaultdict(list)

    def store(self, nodes, messages):
        for node, message in zip(nodes, messages):
            self.of_node[node].append(message)  # keeps

    def take_last(self, nodes):
        last = {node: self.of_node[node][-1] for node in nodes if self.of_node[node]}
        return list(last), torch.stack(list(last.values())) if last else None

    def clear(self, nodes):
        for node in nodes:
            self.of_node[node].clear()


class InteractionMemory(nn.Module):
    def __init__(self, users, items, size=64):
        super().__init__()
        self.register_buffer("memory", torch.zeros(users + items, size))
        self.update = nn.GRUCell(2 * size + 32, size)
        self.score = nn.Linear(2 * size, 1)
        self.messages = Messages()

    def current(self, nodes):
        known, messages = self.messages.take_last(sorted(set(nodes)))
        memory = self.memory.clone()
        if known:
            memory[known] = self.update(messages, self.memory[known])
        return memory

    def forward(self, users, items, features):
        memory = self.current(users + items)
        score = self.score(torch.cat([memory[users], memory[items]], 1))
        with torch.no_grad():
            self.memory.copy_(memory)
            to_user = torch.cat([memory[users], memory[items], features], 1)
            to_item = torch.cat([memory[items], memory[users], features], 1)  # allocates
        self.messages.clear(users)
        self.messages.store(users, to_user)
        self.messages.store(items, to_item)
        return score


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    users, items = 100, 300
    model = InteractionMemory(users, items).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(args.steps):
        who = torch.randperm(users)[: args.batch].tolist()  # step
        what = (users + torch.randint(0, items, (args.batch,))).tolist()
        happened = torch.ones(args.batch, 1, device="cuda")
        score = model(who, what, torch.randn(args.batch, 32, device="cuda"))
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(score, happened).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
