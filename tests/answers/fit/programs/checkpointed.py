# SPDX-License-Identifier: Apache-2.0
"""Trains a GPT of 354 M parameters whose blocks are recomputed in the backward pass."""

import argparse

import torch
from gpt import make

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--length", type=int, default=3072)
parser.add_argument("--no-checkpointing", action="store_true")
parser.add_argument("--steps", type=int, default=5)
args = parser.parse_args()

model = make(layers=24, width=1024, heads=16, length=args.length, checkpointing=not args.no_checkpointing)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(args.steps):
    tokens = torch.randint(50304, (args.batch, args.length), device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(tokens, tokens)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
