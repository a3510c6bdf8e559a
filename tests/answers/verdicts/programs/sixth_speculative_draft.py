# SPDX-License-Identifier: Apache-2.0
"""Speculative decoding: a draft model proposes four tokens at a time, the target model checks them."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class CachedModel(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, past=None):
        x = self.embedding(tokens)
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        present = torch.stack([k, v])
        if past is not None:
            present = torch.cat([past, present], dim=2)  # allocates
        x = x + F.scaled_dot_product_attention(q, present[0], present[1])
        return self.head(x), present


class SpeculativeServer:
    def __init__(self, target, draft, ahead=4):
        self.target, self.draft, self.ahead = target, draft, ahead
        self.target_past, self.draft_past = {}, {}

    def start(self, request, prompt):
        _, self.target_past[request] = self.target(prompt)
        logits, self.draft_past[request] = self.draft(prompt)
        return logits[:, -1:].argmax(-1)

    def advance(self, request, token):
        proposed = [token]
        for _ in range(self.ahead):
            logits, self.draft_past[request] = self.draft(proposed[-1], self.draft_past[request])  # keeps
            proposed.append(logits.argmax(-1))
        logits, self.target_past[request] = self.target(torch.cat(proposed[:-1], dim=1), self.target_past[request])
        return logits[:, -1:].argmax(-1)

    def finish(self, request):
        del self.target_past[request]

    @torch.no_grad()
    def serve(self, request, prompt, rounds=4):
        token = self.start(request, prompt)
        words = [token.item()]
        for _ in range(rounds):
            token = self.advance(request, token)
            words.append(token.item())
        self.finish(request)
        return words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=19)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    server = SpeculativeServer(CachedModel(2000, 256).cuda().eval(), CachedModel(2000, 128).cuda().eval())
    for request in range(args.steps):
        prompt = torch.randint(0, 2000, (1, 48), device="cuda")  # step
        words = server.serve(request, prompt)
        print(request, len(words))


if __name__ == "__main__":
    main()
