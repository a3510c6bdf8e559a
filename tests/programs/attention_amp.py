# SPDX-License-Identifier: Apache-2.0
"""Attention written by hand, two blocks of which one is checkpointed, AMP, frozen embedding.

Prints what is true of it, computed from its own tensors: bytes as the allocator rounds them.
"""

import json

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

BATCH, HEADS, LENGTH, WIDTH = 8, 4, 128, 64


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.mixed = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, value):
        parts = self.mixed(value).view(BATCH, LENGTH, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        query, key, content = parts
        weights = (query @ key.transpose(-2, -1)).softmax(-1)
        joined = (weights @ content).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
        return value + self.out(joined)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(1000, WIDTH).requires_grad_(False)
        self.plain = Attention()
        self.recomputed = Attention()
        self.register_buffer("scale", torch.ones(4096))

    def forward(self, tokens):
        value = self.plain(self.table(tokens))
        return checkpoint(self.recomputed, value, use_reentrant=False) * self.scale[0]


def rounded(tensors) -> int:
    """The bytes of tensors that have a block each."""
    sizes = [tensor.untyped_storage().nbytes() for tensor in tensors if tensor.is_cuda]
    return sum(max(512, -(-size // 512) * 512) for size in sizes)


def main():
    model = Model().to("cuda")
    trained = [value for value in model.parameters() if value.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3)
    for _ in range(4):
        tokens = torch.randint(1000, (BATCH, LENGTH)).to("cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(tokens).float().square().mean()
        loss.backward()
        optimizer.step()
        gradients = rounded(value.grad for value in trained)
        optimizer.zero_grad()
    states = [value for state in optimizer.state.values() for value in state.values()]
    print(json.dumps({
        "weights": rounded(model.parameters()), "buffers": rounded(model.buffers()),
        "gradients": gradients, "optimizer_states": rounded(states),
        "parameter_bytes": sum(value.nbytes for value in model.parameters()),
        "trainable_bytes": sum(value.nbytes for value in trained),
        "scores": BATCH * HEADS * LENGTH * LENGTH * 4, "peak": torch.cuda.max_memory_allocated(),
    }))


if __name__ == "__main__":
    main()
