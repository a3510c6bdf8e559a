# SPDX-License-Identifier: Apache-2.0
"""A recommender that takes up each visitor where the visit before ended: a recurrent cell over visits."""

import argparse
import random
from collections import Counter

import torch
from torch import nn

ITEMS, WIDTH = 500, 64


class VisitModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, WIDTH)
        self.cell = nn.GRUCell(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, ITEMS)

    def forward(self, clicked, state):
        state = self.cell(self.items(clicked), state)  # allocates
        return self.out(state), state


class Visitors:
    """What the model remembers of each visitor at the end of a visit."""

    def __init__(self):
        self.visits = Counter()
        self.states = {}
        self.nothing = torch.zeros(WIDTH, device="cuda")

    def before(self, users):
        return torch.stack([self.states.get((user, self.visits[user]), self.nothing) for user in users])

    def after(self, users, states):
        for user, state in zip(users, states.detach()):
            self.visits[user] += 1
            self.states[user, self.visits[user]] = state  # keeps


def visit(model, optimizer, visitors, users, clicks):
    clicked = torch.tensor([first for first, _ in clicks], device="cuda")
    bought = torch.tensor([second for _, second in clicks], device="cuda")
    logits, states = model(clicked, visitors.before(users))
    loss = nn.functional.cross_entropy(logits, bought)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    visitors.after(users, states)
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = VisitModel().cuda()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    visitors = Visitors()
    total = 0.0
    for _ in range(chosen.steps):
        users = rng.sample(range(40), 16)  # step
        clicks = [(rng.randrange(ITEMS), rng.randrange(ITEMS)) for _ in users]
        total += visit(model, optimizer, visitors, users, clicks)
    print(f"mean loss {total / chosen.steps:.4f}, visits {sum(visitors.visits.values())}")


if __name__ == "__main__":
    main()
