# SPDX-License-Identifier: Apache-2.0
"""A server writes answers word by word; a client may hang up before the answer ends."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=22)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.mix, self.head = nn.Embedding(500, 128), nn.Linear(128, 128), nn.Linear(128, 500)

    @torch.no_grad()
    def stream(self, prompt):
        past = self.embed(prompt)  # allocates
        for _ in range(40):
            hidden = self.mix(past).mean(1)
            token = self.head(hidden).argmax(-1)
            yield token
            past[:, -1] = self.embed(token)


class Server:
    def __init__(self, model):
        self.model, self.open = model, []

    def answer(self, prompt, patience):
        stream = self.model.stream(prompt)
        self.open.append(stream)  # keeps
        words = []
        for token in stream:
            words.append(token.tolist())
            if len(words) == patience:
                return words
        self.open.remove(stream)
        return words


server = Server(Writer().cuda().eval())
for request in range(options.steps):
    prompt = torch.randint(0, 500, (4, 64 + request % 3)).cuda()  # step
    server.answer(prompt, patience=5 + request % 4)
