# SPDX-License-Identifier: Apache-2.0
"""Self-play against former players: one joins every six steps, and the oldest leaves when there are seven."""

import argparse
import itertools

import torch
from torch import nn
from torch.nn import functional as F


class Player(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(96, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy, self.value = nn.Linear(width, 40), nn.Linear(width, 1)

    def forward(self, boards):
        seen = self.layers(boards)
        return self.policy(seen), self.value(seen)


class League:
    def __init__(self, most=7):
        self.most, self.players, self.names = most, {}, itertools.count()

    def join(self, player):
        if len(self.players) == self.most:
            del self.players[min(self.players)]
        newest = Player().cuda().requires_grad_(False)
        newest.load_state_dict(player.state_dict())
        self.players[next(self.names)] = newest

    def opponent(self, step):
        names = list(self.players)
        return self.players[names[step % len(names)]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    player, league = Player().cuda(), League()
    optimizer = torch.optim.Adam(player.parameters(), lr=1e-3)
    for step in range(args.steps):
        boards = torch.randn(128, 96).cuda()  # step
        if step % 6 == 0:
            league.join(player)
        with torch.no_grad():
            answer, worth = league.opponent(step)(boards)
        moves, values = player(boards)
        loss = F.kl_div(moves.log_softmax(1), answer.softmax(1), reduction="batchmean") + F.mse_loss(values, -worth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(league.players)} players")


if __name__ == "__main__":
    main()
