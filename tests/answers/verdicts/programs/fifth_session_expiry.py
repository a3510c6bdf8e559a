# SPDX-License-Identifier: Apache-2.0
"""A chat service; the states of a conversation are kept until nobody has written in it for a while."""

import argparse
import itertools
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Conversation:
    states: torch.Tensor
    last_used: int


class Conversations:
    def __init__(self, idle_limit):
        self.idle_limit = idle_limit
        self.by_user = {}

    def expire(self, now):
        idle = [user for user, one in self.by_user.items() if now - one.last_used > self.idle_limit]
        for user in idle:
            del self.by_user[user]


class ChatService:
    def __init__(self, idle_limit, width=256, turns=64):
        self.width, self.turns = width, turns
        self.read = nn.Linear(width, width).cuda().eval()
        self.conversations = Conversations(idle_limit)
        self.now = 0

    @torch.inference_mode()
    def message(self, user, x):
        self.now += 1
        self.conversations.expire(self.now)
        one = self.conversations.by_user.get(user)
        if one is None:
            one = Conversation(torch.zeros(self.turns, self.width, device="cuda"), self.now)
            self.conversations.by_user[user] = one
        one.last_used = self.now
        one.states[self.now % self.turns] = torch.tanh(self.read(x.cuda()) + one.states.mean(0))
        return one.states.sum().item()


def visitors():
    """New users all the time; each writes three times, with messages of others in between."""
    for number in itertools.count():
        yield number
        if number >= 1:
            yield number - 1
        if number >= 2:
            yield number - 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--idle-limit", type=int, default=30, help="messages of others until a user is gone")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    service, users = ChatService(args.idle_limit), visitors()
    for _ in range(args.steps):
        user = next(users)  # step
        service.message(user, torch.randn(256))


if __name__ == "__main__":
    main()
