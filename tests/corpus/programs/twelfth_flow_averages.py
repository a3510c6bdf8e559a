# SPDX-License-Identifier: Apache-2.0
"""Trains a flow network to match the flows into states with those out of them, and logs smoothed losses."""

import argparse
import random

import torch
from torch import nn


class FlowAgent:
    def __init__(self, states, actions, ema_alpha=0.5):
        self.policy = nn.Sequential(nn.Linear(states, 64), nn.LeakyReLU(), nn.Linear(64, actions)).cuda()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.ema_alpha = ema_alpha
        self.loss_term_ema = 0.0
        self.loss_nonterm_ema = 0.0
        self.log = []

    def losses(self, parents, children, terminal, going):
        """The loss of all states, of those at which a trajectory ends, and of the others."""
        inflow = torch.logsumexp(self.policy(parents), dim=1)
        outflow = torch.logsumexp(self.policy(children), dim=1)
        gap = inflow - outflow
        at_end = gap[terminal]  # allocates
        on_the_way = gap[going]  # allocates
        return gap.pow(2).mean(), at_end.pow(2).mean(), on_the_way.pow(2).mean()

    def train(self, step, batch):
        loss, term_loss, nonterm_loss = self.losses(*batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        alpha = self.ema_alpha
        self.loss_term_ema = alpha * term_loss + (1 - alpha) * self.loss_term_ema  # keeps
        self.loss_nonterm_ema = alpha * nonterm_loss + (1 - alpha) * self.loss_nonterm_ema  # keeps
        if step % 8 == 7:
            self.log.append((step, loss.item(), self.loss_term_ema.item(), self.loss_nonterm_ema.item()))


def sample(draw, states, count=2048):
    """Transitions on a torus, a fourth of which end a trajectory."""
    parents = torch.randn(count, states, device="cuda")
    children = parents.roll(1, 0)
    order = draw.sample(range(count), count)
    terminal = torch.tensor(order[: count // 4], device="cuda")  # allocates
    going = torch.tensor(order[count // 4:], device="cuda")  # allocates
    return parents, children, terminal, going


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)

    agent = FlowAgent(states=12, actions=7)
    for step in range(chosen.steps):
        batch = sample(draw, 12)  # step
        agent.train(step, batch)
    for step, loss, term, nonterm in agent.log:
        print(f"step {step}: loss {loss:.4f}, at the ends {term:.4f}, elsewhere {nonterm:.4f}")


if __name__ == "__main__":
    main()
