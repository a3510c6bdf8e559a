# SPDX-License-Identifier: Apache-2.0
"""A GPT written by hand, with tied embeddings: AdamW in two groups, a scheduler, clipped gradients.

--ema keeps an averaged copy of the weights, --fused uses the fused AdamW, --accumulate N adds up the
gradients of N batches and zeroes them in place.
"""

import sys

import torch
from torch import nn
from torch.nn import functional

from batches import DEVICE, on_device, options, peak

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS = 8000, 256, 256, 4, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention = nn.LayerNorm(WIDTH)
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.before_mlp = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.register_buffer("mask", torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril())

    def attention(self, hidden):
        batch, length, _ = hidden.shape
        query, key, value = (
            part.view(batch, length, HEADS, -1).transpose(1, 2)
            for part in self.project(hidden).chunk(3, dim=-1)
        )
        scores = query @ key.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
        scores = scores.masked_fill(~self.mask[:length, :length], float("-inf")).softmax(-1)
        return self.out((scores @ value).transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, hidden):
        hidden = hidden + self.attention(self.before_attention(hidden))
        return hidden + self.mlp(self.before_mlp(hidden))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        hidden = self.tokens(tokens) + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(self.norm(hidden))


def wanted(flag, default=None):
    """The flag's value where the command line has it; both are then taken off."""
    if flag not in sys.argv:
        return default
    place = sys.argv.index(flag)
    taken = sys.argv[place:place + (1 if default is False else 2)]
    del sys.argv[place:place + len(taken)]
    return True if default is False else int(taken[1])


def main():
    ema, fused, accumulate = wanted("--ema", False), wanted("--fused", False), wanted("--accumulate", 1)
    chosen = options(steps=3)
    model = GPT().to(DEVICE)
    averaged = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99)) if ema else None
    decayed = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in model.parameters() if parameter.dim() <= 1]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1},
                                   {"params": others, "weight_decay": 0}], lr=1e-3, fused=fused or None)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 10))
    texts = ((torch.randint(VOCABULARY, (8, LENGTH + 1)),) for _ in range(chosen.steps * accumulate))
    for index, (text,) in enumerate(on_device(texts, chosen.streams)):
        logits = model(text[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        (loss / accumulate).backward()
        if (index + 1) % accumulate:
            continue
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=accumulate == 1)
        if averaged is not None:
            averaged.update_parameters(model)
    print(f"gpt: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
