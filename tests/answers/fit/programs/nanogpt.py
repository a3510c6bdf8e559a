# SPDX-License-Identifier: Apache-2.0
"""Trains a GPT-2 of 124 M parameters in bfloat16 autocast, and estimates the loss between its steps."""

import argparse

import torch
from gpt import make

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=2)
parser.add_argument("--block_size", type=int, default=2048)
parser.add_argument("--max_iters", type=int, default=6)
parser.add_argument("--eval_interval", type=int, default=3)
args = parser.parse_args()

data = torch.randint(50304, (100_000,))


def get_batch():
    starts = torch.randint(len(data) - args.block_size, (args.batch_size,)).tolist()
    x = torch.stack([data[i : i + args.block_size] for i in starts])
    y = torch.stack([data[i + 1 : i + 1 + args.block_size] for i in starts])
    return x.pin_memory().to("cuda", non_blocking=True), y.pin_memory().to("cuda", non_blocking=True)


@torch.no_grad()
def estimate_loss():
    model.eval()
    losses = []
    for _ in range(2):
        with torch.autocast("cuda", torch.bfloat16):
            losses.append(model(*get_batch()).item())
    model.train()
    return sum(losses) / len(losses)


model = make(length=args.block_size)
decayed = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], fused=True)
for iteration in range(args.max_iters):
    if iteration and iteration % args.eval_interval == 0:
        print(f"step {iteration}: loss {estimate_loss():.4f}")
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(*get_batch())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
