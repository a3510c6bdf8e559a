# SPDX-License-Identifier: Apache-2.0
"""Self-play: a player trains against what it was before, so that it does not forget how to beat it."""

import argparse
import random

import torch
from torch import nn

BOARD, MOVES = 36, 9


def player():
    return nn.Sequential(nn.Linear(2 * BOARD, 64), nn.Tanh(), nn.Linear(64, MOVES)).cuda()


class League:
    def __init__(self, most, every, rng):
        self.most, self.every, self.rng = most, every, rng
        self.members = []

    def maybe_join(self, step, current):
        if step % self.every:
            return
        member = {name: weight.clone() for name, weight in current.state_dict().items()}
        if len(self.members) < self.most:
            self.members.append(member)
        else:
            self.members[self.rng.randrange(self.most)] = member

    def opponent(self, into):
        into.load_state_dict(self.rng.choice(self.members))
        return into


class Game:
    """Boards are dealt; who marks more of the odd fields wins."""

    def __init__(self, rng, tables=16):
        self.rng, self.tables = rng, tables

    def boards(self):
        return torch.tensor([[self.rng.choice((0.0, 1.0)) for _ in range(2 * BOARD)] for _ in range(self.tables)])

    def results(self):
        return torch.tensor([self.rng.choice((-1.0, 1.0)) for _ in range(self.tables)])


def play_and_learn(current, opponent, optimizer, game, rounds=3):
    optimizer.zero_grad()
    for _ in range(rounds):
        boards = game.boards().cuda()
        with torch.no_grad():
            boards = boards + 0.1 * opponent(boards).mean()
        logp = torch.log_softmax(current(boards), dim=1).amax(1)
        loss = -(logp * game.results().cuda()).mean() / rounds
        loss.backward()
    nn.utils.clip_grad_norm_(current.parameters(), 1.0)
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    current, seat = player(), player()
    optimizer = torch.optim.Adam(current.parameters(), lr=1e-3)
    league, game = League(most=15, every=3, rng=rng), Game(rng)
    for step in range(chosen.steps):
        league.maybe_join(step, current)  # step
        play_and_learn(current, league.opponent(seat), optimizer, game)
    print("members of the league:", len(league.members))


if __name__ == "__main__":
    main()
