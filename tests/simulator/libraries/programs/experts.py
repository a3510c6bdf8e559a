# SPDX-License-Identifier: Apache-2.0
"""Three ways of giving tokens to experts that a router chooses by values: `experts.py lists|sorted|capacity [--by-hand]`.

--by-hand: each expert gets as many tokens as another, without a look at a value. Prints the sizes that the experts of
the first layer were given in the last step, and the peak.
"""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

WAY, BY_HAND = sys.argv[1], "--by-hand" in sys.argv
EXPERTS, CHOSEN, TOKENS, WIDTH, WIDE = 8, 1 if WAY == "capacity" else 2, 4096, 256, 1024
EACH = TOKENS * CHOSEN // EXPERTS


def some(count):
    return torch.zeros(count, dtype=torch.long, device="cuda")


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, WIDE), nn.GELU(), nn.Linear(WIDE, WIDTH))
                                     for _ in range(EXPERTS))
        self.sizes = []

    def run(self, number, tokens):
        self.sizes.append(len(tokens))
        return self.experts[number](tokens)

    def lists(self, x):
        """A list of tokens for each expert, as transformers' Mixtral has it."""
        weight, chosen = self.router(x).softmax(-1).topk(CHOSEN, -1)
        out = torch.zeros_like(x)
        for number in range(EXPERTS):
            token, place = (some(EACH), some(EACH)) if BY_HAND else torch.where(chosen == number)
            out.index_add_(0, token, self.run(number, x[token]) * weight[token, place, None])
        return out

    def sorted(self, x):
        """Sorted by expert and split by counts, as DeepSeek has it."""
        weight, chosen = self.router(x).softmax(-1).topk(CHOSEN, -1)
        order = chosen.view(-1).argsort()
        counts = torch.bincount(chosen.view(-1), minlength=EXPERTS)
        sizes = [EACH] * EXPERTS if BY_HAND else counts.tolist()
        parts = x[some(TOKENS * CHOSEN) if BY_HAND else order // CHOSEN].split(sizes)
        out = torch.cat([self.run(number, part) for number, part in enumerate(parts)])
        back = torch.empty_like(out)
        back[order] = out
        return (back.view(TOKENS, CHOSEN, WIDTH) * weight[..., None]).sum(1)

    def capacity(self, x):
        """One expert a token, and no more tokens than its capacity, as the Switch Transformer has it."""
        shares = self.router(x).softmax(-1)
        chosen = F.one_hot(shares.argmax(-1), EXPERTS)
        chosen = chosen * (torch.cumsum(chosen, 0) * chosen <= 2 * EACH)
        out = x.clone()
        for number in range(EXPERTS):
            mine = some(EACH) if BY_HAND else chosen[:, number].bool()
            out[mine] = self.run(number, x[mine])
        return out * shares.max(-1, keepdim=True).values

    def forward(self, x):
        self.sizes = []
        return getattr(self, WAY)(x)


model = nn.Sequential(*[Layer() for _ in range(2)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    model(torch.randn(TOKENS, WIDTH, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
print("sizes", *model[0].sizes)
print("peak", torch.cuda.max_memory_allocated())
