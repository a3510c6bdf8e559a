# SPDX-License-Identifier: Apache-2.0
"""Serves a small language model to people who write several times each; keys and values of what was said are reused
when the same person writes again."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F

TURNS, PROMPT, REPLY = 3, 12, 4


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, past):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if past is not None:
            k = torch.cat([past[0], k], 2)  # allocates
            v = torch.cat([past[1], v], 2)  # allocates
        attended = F.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1) @ v
        return self.out(attended.transpose(1, 2).reshape(batch, length, width)), (k, v)


class LanguageModel(nn.Module):
    def __init__(self, vocabulary=500, width=64, heads=4, layers=2):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Attention(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids, past):
        x, present = self.tokens(ids), []
        for layer, of_layer in zip(self.layers, past or [None] * len(self.layers)):
            attended, kept = layer(x, of_layer)
            x = x + attended
            present.append(kept)
        return self.head(x[:, -1]), present


class Server:
    def __init__(self, model):
        self.model = model
        self.sessions = {}

    @torch.no_grad()
    def answer(self, session, prompt):
        past = self.sessions.get(session)
        ids, reply = torch.tensor([prompt], device="cuda"), []
        for _ in range(REPLY):
            logits, past = self.model(ids, past)
            ids = logits.argmax(-1, keepdim=True)
            reply.append(ids)
        self.sessions[session] = past  # keeps
        return torch.cat(reply, 1).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)
    server = Server(LanguageModel().cuda().eval())
    for request in range(chosen.steps):
        prompt = [draw.randrange(500) for _ in range(PROMPT)]  # step
        reply = server.answer(f"user-{request // TURNS}", prompt)
    print("last reply:", reply)


if __name__ == "__main__":
    main()
