# SPDX-License-Identifier: Apache-2.0
"""Three training steps of a GPT of a billion parameters, in plain PyTorch.

python dry_run_gpt.py [cpu|cuda]: where the model is built. Built on the CPU, it is moved afterwards."""

import contextlib
import sys

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.attention(self.norm_1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm_2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary=50257, length=1024, width=1792, heads=14, layers=24):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        self.apply(self.initialise)

    @staticmethod
    def initialise(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        return self.head(self.norm(self.blocks(x)))


def main(built_on: str) -> None:
    torch.manual_seed(0)
    with torch.device("cuda") if built_on == "cuda" else contextlib.nullcontext():
        model = GPT()
    model = model.cuda()
    print(sum(parameter.numel() for parameter in model.parameters()), "parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(3):
        ids = torch.randint(0, 50257, (4, 1024)).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = model(ids)
            loss = functional.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), ids[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print("loss", loss.item())
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cpu")
