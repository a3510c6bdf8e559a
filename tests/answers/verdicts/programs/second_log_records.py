# SPDX-License-Identifier: Apache-2.0
"""nanoGPT with logging: a handler collects records for a panel, and a record keeps what is to be printed."""

import argparse
import logging

import torch
from torch import nn
from torch.nn import functional as F

log = logging.getLogger("train")


class Panel(logging.Handler):
    """The last lines are shown when somebody looks."""

    def __init__(self, lines=8):
        super().__init__()
        self.lines, self.records = lines, []

    def emit(self, record):
        self.records.append(record)  # keeps

    def show(self):
        return [record.levelname for record in self.records[-self.lines:]]


class Block(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.before, self.after, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.qkv, self.join = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.join(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.after(x))


class GPT(nn.Module):
    def __init__(self, words=200, block=32, width=64, layers=2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(block, width)
        self.h = nn.Sequential(*(Block(width) for _ in range(layers)))
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, idx, targets):
        x = self.h(self.wte(idx) + self.wpe(torch.arange(idx.shape[1], device=idx.device)))
        logits = self.head(x)  # allocates
        log.debug("logits %s", logits.detach())
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=17)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    panel = Panel()
    log.setLevel(logging.DEBUG)
    log.addHandler(panel)
    log.propagate = False
    model = GPT().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95))
    data = torch.randint(200, (5000,))
    for step in range(chosen.steps):
        at = torch.randint(4900, (8,)).tolist()  # step
        x = torch.stack([data[i:i + 32] for i in at]).cuda()
        y = torch.stack([data[i + 1:i + 33] for i in at]).cuda()
        loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log.info("step %d loss %.4f", step, loss.item())
    print(panel.show())


if __name__ == "__main__":
    main()
