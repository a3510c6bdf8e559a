# SPDX-License-Identifier: Apache-2.0
"""A player looks ahead in a tree of states; after a move the tree goes on from the child that was taken."""

import argparse
import math
import random

import torch
from torch import nn


class Node:
    def __init__(self, state):
        self.state, self.children = state, {}
        self.visits, self.worth = 1, 0.0

    def best(self):
        def promise(child):
            return child.worth / child.visits + math.sqrt(math.log(self.visits + 1) / child.visits)
        return max(self.children.values(), key=promise)


class Player(nn.Module):
    def __init__(self, width=2048, moves=4):
        super().__init__()
        self.moves, self.width = moves, width
        self.move, self.worth = nn.Embedding(moves, width), nn.Linear(width, 1)
        self.mix = nn.Parameter(torch.rand(width))

    def look_ahead(self, root, rng):
        path = [root]
        while len(path[-1].children) == self.moves:
            path.append(path[-1].best())
        move = rng.choice([one for one in range(self.moves) if one not in path[-1].children])
        state = torch.tanh(self.mix * path[-1].state + self.move.weight[move])  # fills
        path[-1].children[move] = Node(state)
        worth = self.worth(state).item()
        for node in [*path, path[-1].children[move]]:
            node.visits, node.worth = node.visits + 1, node.worth + worth


@torch.inference_mode()
def play(player, moves, rng, looks=40):
    root = Node(torch.zeros(player.width, device="cuda"))
    for _ in range(moves):
        for _ in range(looks):
            player.look_ahead(root, rng)
        root = max(root.children.values(), key=lambda child: child.visits)
    return root.worth / root.visits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    print(f"worth {play(Player().cuda().eval(), chosen.steps, random.Random(chosen.seed)):.4f}")


if __name__ == "__main__":
    main()
