# SPDX-License-Identifier: Apache-2.0
"""Stories of forty words are written, one after the other; keys and values of all words are kept meanwhile."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
LONGEST = 40


class Writer(nn.Module):
    def __init__(self, layers=4, width=512):
        super().__init__()
        self.table = nn.Embedding(1000, width)
        self.projections = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(layers))

    def forward(self, token, past):
        x = self.table(token)[:, None]
        for projection, cache in zip(self.projections, past):
            cache.append(projection(x))  # fills
            key, value = torch.cat(cache, 1).chunk(2, -1)
            x = x + (x @ key.transpose(1, 2)).softmax(-1) @ value
        return x[:, 0]


@torch.inference_mode()
def main():
    writer, past = Writer().cuda().eval(), None
    for step in range(options.steps):
        if step % LONGEST == 0:
            past = [[] for _ in writer.projections]
        token = torch.randint(0, 1000, (32,)).cuda()  # step
        writer(token, past)


main()
