# SPDX-License-Identifier: Apache-2.0
"""Generates with a GPT of 1.3 B parameters in fp16; keys and values of earlier tokens are kept, and grow by concatenation."""

import argparse

import torch
from gpt import make

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=1)
parser.add_argument("--prompt", type=int, default=6000)
parser.add_argument("--new-tokens", type=int, default=48)
args = parser.parse_args()

torch.set_default_dtype(torch.float16)
model = make(layers=24, width=2048, heads=16, length=args.prompt + args.new_tokens).eval()
with torch.inference_mode():
    tokens = torch.randint(50304, (args.batch_size, args.prompt), device="cuda")
    caches = [[] for _ in model.blocks]
    logits = model(tokens, caches=caches)
    for number in range(args.new_tokens):
        following = torch.multinomial(torch.softmax(logits[:, -1].float() / 0.8, dim=-1), 1)
        tokens = torch.cat([tokens, following], dim=1)
        logits = model(following, caches=caches, start=args.prompt + number)
print(tokens.shape)
