# SPDX-License-Identifier: Apache-2.0
"""A server that has the keys and values of its eleven system prompts, each worked out when it is first asked for."""

import argparse

import torch
from torch import nn

ROLES = {"tutor": 90, "coder": 140, "poet": 60, "judge": 120, "cook": 70, "guide": 110, "critic": 80, "medic": 150,
         "clerk": 100, "coach": 130, "host": 95}


class Server(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.embed, self.mix = nn.Embedding(256, width), nn.Linear(width, 2 * width)
        self.prefix = {}

    def states(self, role):
        if role not in self.prefix:
            text = torch.arange(ROLES[role], device="cuda") % 256
            self.prefix[role] = self.mix(self.embed(text))
        return self.prefix[role]

    @torch.inference_mode()
    def answer(self, role, question):
        own = self.mix(self.embed(question))
        keys, values = torch.cat([self.states(role), own]).chunk(2, -1)
        return ((self.embed(question) @ keys.T).softmax(-1) @ values).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=17)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    server, roles = Server().cuda().eval(), list(ROLES)
    for step in range(args.steps):
        role = roles[(step if step % 4 else step // 2) % len(roles)]  # step
        server.answer(role, torch.randint(256, (24,)).cuda())
    print(f"{len(server.prefix)} prompts are known")


if __name__ == "__main__":
    main()
