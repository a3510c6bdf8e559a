# SPDX-License-Identifier: Apache-2.0
"""Losses and norms stay on the GPU for ten steps, so that none is waited for; then they go to the log together."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Log:
    def __init__(self, every=10):
        self.every, self.pending, self.lines = every, {}, []

    def add(self, step, **values):
        for name, value in values.items():
            self.pending.setdefault(name, []).append(value.detach())
        if step % self.every == 0:
            self.flush()

    def flush(self):
        self.lines.append({name: torch.stack(values).mean().item() for name, values in self.pending.items()})
        self.pending = {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net, log = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)).cuda(), Log()
    optimizer = torch.optim.AdamW(net.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=args.steps)
    for step in range(1, args.steps + 1):
        rows = torch.randn(64, 128).cuda()  # step
        loss = F.mse_loss(net(rows), rows)  # fills
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # fills
        optimizer.step()
        schedule.step()
        log.add(step, loss=loss, norm=norm)
    print(log.lines[-1])


if __name__ == "__main__":
    main()
