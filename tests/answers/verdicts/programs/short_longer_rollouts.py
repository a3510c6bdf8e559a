# SPDX-License-Identifier: Apache-2.0
"""A model of a world learns to dream further ahead: each sixth step its rollout gets two states longer."""

import argparse

import torch
from torch import nn


class World(nn.Module):
    def __init__(self, sensors=24, width=128):
        super().__init__()
        self.inward, self.cell = nn.Linear(sensors, width), nn.GRUCell(4, width)
        self.outward = nn.Linear(width, sensors)

    def dream(self, seen, actions):
        state, dreamt = torch.tanh(self.inward(seen)), []
        for action in actions:
            state = self.cell(action, state)
            dreamt.append(self.outward(state))
        return torch.stack(dreamt)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = World().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(chosen.steps):
        ahead = 2 + 2 * (step // 6)
        frames = torch.randn(ahead + 1, 64, 24, device="cuda")
        dreamt = model.dream(frames[0], torch.randn(ahead, 64, 4, device="cuda"))
        loss = (dreamt - frames[1:]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {ahead} states ahead")


if __name__ == "__main__":
    main()
