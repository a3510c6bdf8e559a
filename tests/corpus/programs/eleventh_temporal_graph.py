# SPDX-License-Identifier: Apache-2.0
"""Learns from the events of a graph that changes with time: nodes have a memory, and messages for it."""

import argparse
import random
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn


class Memory:
    def __init__(self, nodes, width):
        self.nodes, self.width = nodes, width
        self.start_over()

    def start_over(self):
        """At the beginning of each epoch."""
        self.memory = torch.zeros(self.nodes, self.width, device="cuda")
        self.messages = defaultdict(list)

    def store(self, nodes, messages):
        for node in nodes:
            self.messages[node].extend(messages[node])

    def clear(self, nodes):
        for node in nodes:
            self.messages[node] = []

    def detach(self):
        self.memory = self.memory.detach()
        for node, messages in self.messages.items():
            self.messages[node] = [message.detach() for message in messages]


class TemporalNet(nn.Module):
    def __init__(self, nodes, width=48, features=24):
        super().__init__()
        self.memory = Memory(nodes, width)
        self.updater = nn.GRUCell(2 * width + features, width)
        self.affinity = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))

    def update_memory(self, nodes):
        with_messages = [node for node in nodes if self.memory.messages[node]]
        if not with_messages:
            return
        last = torch.stack([self.memory.messages[node][-1] for node in with_messages])
        renewed = self.memory.memory.clone()
        renewed[with_messages] = self.updater(last, self.memory.memory[with_messages])
        self.memory.memory = renewed

    def raw_messages(self, sources, destinations, features):
        memory = self.memory.memory
        raw = torch.cat([memory[sources], memory[destinations], features], dim=1)  # fills
        messages = defaultdict(list)
        for number, node in enumerate(sources):
            messages[node].append(raw[number])
        return messages

    def forward(self, sources, destinations, others, features):
        positives = sorted({*sources, *destinations})
        self.update_memory(positives)
        self.memory.clear(positives)
        near = torch.cat([self.memory.memory[sources], self.memory.memory[destinations]], dim=1)
        far = torch.cat([self.memory.memory[sources], self.memory.memory[others]], dim=1)
        scores = self.affinity(near), self.affinity(far)
        self.memory.store(sorted(set(sources)), self.raw_messages(sources, destinations, features))
        self.memory.store(sorted(set(destinations)), self.raw_messages(destinations, sources, features))
        return scores


def events(count, nodes, seed):
    chance = random.Random(seed)
    return [(chance.randrange(nodes), chance.randrange(nodes), chance.randrange(nodes)) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rows, model = 40, TemporalNet(nodes=1200).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    stream = events(rows * chosen.batches, 1200, chosen.seed)
    for step in range(chosen.steps):
        number = step % chosen.batches  # step
        if number == 0:
            model.memory.start_over()
        sources, destinations, others = map(list, zip(*stream[rows * number:rows * (number + 1)], strict=True))
        near, far = model(sources, destinations, others, torch.randn(rows, 24, device="cuda"))
        loss = F.binary_cross_entropy_with_logits(torch.cat([near, -far]), torch.ones(2 * rows, 1, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.memory.detach()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
