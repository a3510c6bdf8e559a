# SPDX-License-Identifier: Apache-2.0
"""A bank of features in one tensor, which is made twice as long when it is full, up to 2,048 rows; then it wraps."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Bank:
    def __init__(self, width, most):
        self.rows, self.count, self.most = torch.zeros(64, width, device="cuda"), 0, most

    @torch.no_grad()
    def add(self, features):
        while self.count + len(features) > len(self.rows) < self.most:
            longer = self.rows.new_zeros(2 * len(self.rows), self.rows.shape[1])
            longer[:len(self.rows)] = self.rows
            self.rows = longer
        at = self.count % len(self.rows)
        self.rows[at:at + len(features)] = features
        self.count += len(features)

    def nearest(self, features):
        filled = self.rows[:min(self.count, len(self.rows))]
        return (features @ filled.T).amax(1) if len(filled) else features.sum(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=58)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bank", type=int, default=2048)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(50, 150), nn.ReLU(), nn.Linear(150, 200)).cuda()
    optimizer, bank = torch.optim.Adam(net.parameters()), Bank(200, args.bank)
    for _ in range(args.steps):
        features = F.normalize(net(torch.randn(32, 50).cuda()))  # step
        loss = bank.nearest(features).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.add(features.detach())
    print(f"{bank.count} rows seen, room for {len(bank.rows)}")


if __name__ == "__main__":
    main()
