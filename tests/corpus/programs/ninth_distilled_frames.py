# SPDX-License-Identifier: Apache-2.0
"""Distils an interatomic potential: a student moves atoms, a teacher labels the frames, and they are replayed."""

import argparse
import random

import torch
from torch import nn

ATOMS, WALKERS = 12, 8


class Potential(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3 * ATOMS, width), nn.SiLU(), nn.Linear(width, 1 + 3 * ATOMS))

    def forward(self, positions):
        out = self.layers(positions.flatten(1))
        return out[:, 0], out[:, 1:].reshape(-1, ATOMS, 3)


class FirstInFirstOut:
    def select(self, size, incoming, capacity):
        """Places of the frames to drop; the oldest frame is at place 0."""
        return list(range(max(0, size - capacity)))


class FrameBuffer:
    """Labelled frames under one schema."""

    def __init__(self, capacity, eviction):
        self.capacity, self.eviction = capacity, eviction
        self.frames = None

    def __len__(self):
        return 0 if self.frames is None else len(self.frames["energy"])

    def extend(self, new):
        if self.frames is None:
            self.frames = dict(new)
            return
        assert self.frames.keys() == new.keys()
        self.frames = {name: torch.cat([kept, new[name]]) for name, kept in self.frames.items()}
        drop = set(self.eviction.select(len(self), len(new["energy"]), self.capacity))
        if drop:
            stay = torch.tensor([place for place in range(len(self)) if place not in drop], device="cuda")
            self.frames = {name: kept.index_select(0, stay) for name, kept in self.frames.items()}

    def sample(self, count, rng):
        places = torch.tensor([rng.randrange(len(self)) for _ in range(count)], device="cuda")
        return {name: kept.index_select(0, places) for name, kept in self.frames.items()}


def label(teacher, positions):
    with torch.no_grad():
        energy, forces = teacher(positions)
    return {"positions": positions, "energy": energy.clone(), "forces": forces.clone()}


def distil(student, teacher, optimizer, buffer, positions, rng):
    """The walkers move by the student's forces; then it learns from a batch of what the teacher said so far."""
    with torch.no_grad():
        positions = positions + 0.01 * student(positions)[1] + 0.02 * torch.randn_like(positions)
    buffer.extend(label(teacher, positions))
    batch = buffer.sample(32, rng)
    energy, forces = student(batch["positions"])
    loss = (energy - batch["energy"]).square().mean() + (forces - batch["forces"]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return positions, loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--capacity", type=int, default=480)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    student, teacher = Potential(32).cuda(), Potential(256).cuda()
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    buffer = FrameBuffer(chosen.capacity, FirstInFirstOut())
    positions = torch.randn(WALKERS, ATOMS, 3, device="cuda")
    for step in range(chosen.steps):
        moved, loss = distil(student, teacher, optimizer, buffer, positions, rng)  # step
        positions = moved
        if step % 10 == 0:
            print(f"{step}: {len(buffer)} frames, loss {loss:.4f}")


if __name__ == "__main__":
    main()
