# SPDX-License-Identifier: Apache-2.0
"""Conversations of five turns: keys and values of a conversation move to the archive when it is over."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=29)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
TURNS = 5


class Conversation:
    def __init__(self):
        self.keys, self.values = [], []

    def turn(self, model, tokens):
        x = model["embed"](tokens)
        self.keys.append(model["key"](x))  # allocates
        self.values.append(model["value"](x))  # allocates
        keys, values = torch.cat(self.keys, 1), torch.cat(self.values, 1)
        return (x @ keys.transpose(1, 2)).softmax(-1) @ values


class Desk:
    def __init__(self):
        self.model = nn.ModuleDict({"embed": nn.Embedding(800, 96), "key": nn.Linear(96, 96),
                                    "value": nn.Linear(96, 96)}).cuda().eval()
        self.active, self.archive = {}, {}

    @torch.inference_mode()
    def serve(self, client, tokens):
        conversation = self.active.setdefault(client, Conversation())
        answer = conversation.turn(self.model, tokens)
        if len(conversation.keys) == TURNS:
            self.archive[client] = self.active.pop(client)  # keeps
        return answer.mean().item()


desk = Desk()
for step in range(options.steps):
    tokens = torch.randint(0, 800, (4, 64)).cuda()  # step
    desk.serve(f"client {step // TURNS}", tokens)
