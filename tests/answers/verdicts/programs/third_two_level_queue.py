# SPDX-License-Identifier: Apache-2.0
"""Momentum contrast at two levels: keys of whole pictures and of their parts, of the last eleven batches."""

import argparse
import copy
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1))
        self.whole = nn.Linear(width, 96)

    def forward(self, pictures):
        parts = self.body(pictures)
        rows = F.adaptive_avg_pool2d(parts, 4).flatten(2)
        return F.normalize(self.whole(parts.mean((2, 3)))), F.normalize(rows, dim=1)


def contrast(queries, keys, former):
    near = (queries * keys).sum(1, keepdim=True)
    far = queries @ torch.cat([keys, *former]).T
    return -(near / 0.2).mean() + torch.logsumexp(far / 0.2, 1).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    query = Encoder().cuda()
    key = copy.deepcopy(query).requires_grad_(False)
    wholes, parts = deque(maxlen=11), deque(maxlen=11)
    optimizer = torch.optim.SGD(query.parameters(), lr=0.03, momentum=0.9)
    for _ in range(args.steps):
        left = torch.rand(32, 3, 32, 32).cuda()  # step
        right = left.flip(3)
        q_whole, q_parts = query(left)
        with torch.no_grad():
            for slow, fast in zip(key.parameters(), query.parameters()):
                slow.lerp_(fast, 0.01)
            k_whole, k_parts = key(right)
        q_rows, k_rows = q_parts.transpose(1, 2).flatten(0, 1), k_parts.transpose(1, 2).flatten(0, 1)
        loss = contrast(q_whole, k_whole, wholes) + contrast(q_rows, k_rows, parts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        wholes.append(k_whole)
        parts.append(k_rows)
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
