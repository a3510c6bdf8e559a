# SPDX-License-Identifier: Apache-2.0
"""States of visitors, by visitor: who was not seen for twenty steps is forgotten; as many come as go from then on."""

import argparse
import heapq

import torch
from torch import nn


class States:
    def __init__(self, width, life):
        self.width, self.life = width, life
        self.kept, self.seen, self.due = {}, {}, []

    def get(self, visitors):
        none = torch.zeros(self.width, device="cuda")
        return torch.stack([self.kept.get(one, none) for one in visitors])

    def put(self, visitors, states, now):
        for one, state in zip(visitors, states.detach().unbind()):
            self.kept[one], self.seen[one] = state.clone(), now
            heapq.heappush(self.due, (now + self.life, one))

    def expire(self, now):
        while self.due and self.due[0][0] <= now:
            one = heapq.heappop(self.due)[1]
            if one in self.kept and self.seen[one] + self.life <= now:
                del self.kept[one], self.seen[one]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    cell, score = nn.GRUCell(20, 384).cuda(), nn.Linear(384, 20).cuda()
    optimizer = torch.optim.SGD([*cell.parameters(), *score.parameters()], lr=0.01)
    states = States(384, 20)
    for step in range(args.steps):
        visitors = [6 * step + one for one in range(6)] + [6 * max(0, step - 2), 6 * max(0, step - 3) + 1]  # step
        states.expire(step)
        after = cell(torch.randn(len(visitors), 20, device="cuda"), states.get(visitors))
        optimizer.zero_grad()
        score(after).square().mean().backward()
        optimizer.step()
        states.put(visitors, after, step)
    print(f"{len(states.kept)} visitors are known")


if __name__ == "__main__":
    main()
