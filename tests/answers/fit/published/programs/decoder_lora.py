# SPDX-License-Identifier: Apache-2.0
"""LoRA on queries and values of a frozen decoder in bf16, or generation with it, as LitGPT's tables describe.

The loss is taken over pieces of 128 tokens, as its script did. Prints what torch counted.
"""

import argparse
import json

import torch
from torch import nn
from torch.nn import functional

# From the published configurations; rotary: the share of a head that is rotated.
MODELS = {
    "phi-1.5": dict(layers=24, width=2048, heads=32, inner=8192, vocabulary=51200, rotary=0.5, kind="parallel", shared=True),
    "stablelm-alpha-3b": dict(layers=16, width=4096, heads=32, inner=16384, vocabulary=50688, rotary=0.25, kind="parallel"),
    "llama-2-7b": dict(layers=32, width=4096, heads=32, inner=11008, vocabulary=32000, rotary=1.0, kind="llama"),
    "llama-2-13b": dict(layers=40, width=5120, heads=40, inner=13824, vocabulary=32000, rotary=1.0, kind="llama"),
}
RANK, ALPHA = 8, 16


class Norm(nn.Module):
    """Root mean square in 32 bits."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        high = x.float()
        return (self.weight * (high * torch.rsqrt((high * high).mean(-1, keepdim=True) + 1e-5))).to(x.dtype)


class Projection(nn.Module):
    """Queries, keys and values of a frozen layer, with low-rank changes to the first and the last."""

    def __init__(self, width, bias):
        super().__init__()
        self.linear = nn.Linear(width, 3 * width, bias=bias)
        self.down = nn.Parameter(torch.zeros(2 * RANK, width))
        self.up = nn.Parameter(torch.zeros(2 * width, RANK, 1))
        self.dropout = nn.Dropout(0.05)
        self.changed = torch.cat([torch.arange(width), torch.arange(2 * width, 3 * width)])

    def forward(self, x):
        small = functional.linear(self.dropout(x), self.down).transpose(-2, -1)
        change = functional.conv1d(small, self.up, groups=2).transpose(-2, -1).reshape(-1, len(self.up))
        wide = change.new_zeros(len(change), self.linear.out_features).index_copy(1, self.changed, change)
        return self.linear(x) + wide.view(*x.shape[:-1], -1) * (ALPHA / RANK)


def rotated(x, part, cosine, sine):
    first, second = x[..., :part].chunk(2, dim=-1)
    turned = x[..., :part] * cosine + torch.cat((-second, first), dim=-1) * sine
    return torch.cat((turned.type_as(x), x[..., part:]), dim=-1)


class Block(nn.Module):
    def __init__(self, width, heads, inner, rotary, kind, shared):
        super().__init__()
        llama = kind == "llama"
        self.heads, self.parallel, self.part = heads, not llama, int(rotary * width // heads)
        self.norm_1 = Norm(width) if llama else nn.LayerNorm(width)
        self.norm_2 = self.norm_1 if shared else (Norm(width) if llama else nn.LayerNorm(width))
        self.qkv, self.out = Projection(width, not llama), nn.Linear(width, width, bias=not llama)
        self.up, self.down = nn.Linear(width, inner, bias=not llama), nn.Linear(inner, width, bias=not llama)
        self.gate = nn.Linear(width, inner, bias=False) if llama else None

    def attend(self, x, cosine, sine, cache):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = rotated(q, self.part, cosine, sine), rotated(k, self.part, cosine, sine)
        if cache is not None:
            cache[0][:, :, :length], cache[1][:, :, :length] = k, v
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))

    def feed(self, x):
        if self.gate is None:
            return self.down(functional.gelu(self.up(x)))
        return self.down(functional.silu(self.up(x)) * self.gate(x))

    def forward(self, x, cosine, sine, cache=None):
        normed = self.norm_1(x)
        attended = self.attend(normed, cosine, sine, cache)
        if self.parallel:
            return self.feed(normed if self.norm_2 is self.norm_1 else self.norm_2(x)) + attended + x
        x = x + attended
        return self.feed(self.norm_2(x)) + x


class Decoder(nn.Module):
    def __init__(self, layers, width, heads, inner, vocabulary, rotary, kind, shared=False):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads, inner, rotary, kind, shared) for _ in range(layers))
        self.norm = Norm(width) if kind == "llama" else nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=bool(shared))

    def forward(self, tokens, caches=None):
        part, length = self.blocks[0].part, tokens.shape[1]
        angles = torch.outer(torch.arange(length, device="cuda").float(), torch.ones(part // 2, device="cuda")).repeat(1, 2)
        cosine, sine = angles.cos(), angles.sin()
        x = self.embedding(tokens)
        for number, block in enumerate(self.blocks):
            x = block(x, cosine, sine, caches[number] if caches else None)
        x = self.norm(x)
        return [self.head(piece) for piece in x.split(128, dim=1)]


def train(model, batch, length, micro_batches):
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.endswith(("qkv.down", "qkv.up")))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-4, weight_decay=0.01)
    for _ in range(2):
        for _ in range(micro_batches):
            tokens = torch.ones(batch, length, dtype=torch.long, device="cuda")
            pieces = model(tokens)
            pieces[-1] = pieces[-1][:, :-1]
            wanted = tokens[:, 1:].split(128, dim=1)
            losses = [functional.cross_entropy(each.reshape(-1, each.shape[-1]), target.reshape(-1), reduction="none")
                      for each, target in zip(pieces, wanted)]
            (torch.cat(losses).mean() / micro_batches).backward()
        optimizer.step()
        optimizer.zero_grad()


@torch.inference_mode()
def generate(model, length):
    heads, width = model.blocks[0].heads, model.embedding.embedding_dim
    caches = [[torch.zeros(1, heads, length, width // heads, device="cuda") for _ in range(2)] for _ in model.blocks]
    for _ in range(5):
        model(torch.ones(1, 1, dtype=torch.long, device="cuda"), caches)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--generate", action="store_true")
    chosen = parser.parse_args()
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Decoder(**MODELS[chosen.model])
    if chosen.generate:
        generate(model.eval(), chosen.length)
    else:
        train(model, chosen.batch, chosen.length, 2)
    print(json.dumps({"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved(),
                      "trained": sum(p.numel() for p in model.parameters() if p.requires_grad)}))


if __name__ == "__main__":
    main()
