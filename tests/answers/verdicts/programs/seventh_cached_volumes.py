# SPDX-License-Identifier: Apache-2.0
"""Segments the scans of twenty patients, which are resampled when first asked for; it learns from crops of them."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class Scans(torch.utils.data.Dataset):
    def __init__(self, patients, crop, rng):
        self.patients, self.crop, self.rng = patients, crop, rng
        self.ready = {}

    def __len__(self):
        return self.patients

    def prepare(self, patient):
        raw = torch.randn(1, 1, 10 + patient % 3, 20, 20, device="cuda")
        scan = F.interpolate(raw, size=(16, 28, 28), mode="trilinear", align_corners=False)[0]
        return scan.clamp(-3, 3) / 3

    def __getitem__(self, patient):
        if patient not in self.ready:
            self.ready[patient] = self.prepare(patient)
        scan = self.ready[patient]
        corner = [self.rng.randrange(size - self.crop + 1) for size in scan.shape[1:]]
        depth, height, width = (slice(start, start + self.crop) for start in corner)
        return scan[:, depth, height, width]


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv3d(1, 8, 3, padding=1)
        self.second = nn.Conv3d(8, 8, 3, padding=1)
        self.last = nn.Conv3d(8, 2, 1)

    def forward(self, crops):
        hidden = F.leaky_relu(self.first(crops))
        return self.last(hidden + F.leaky_relu(self.second(hidden)))


def order(count, rng):
    """Patients in another order with each pass, for ever."""
    while True:
        yield from rng.sample(range(count), count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    scans = Scans(patients=20, crop=12, rng=rng)
    model = Segmenter().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    patients = order(len(scans), rng)
    for _ in range(chosen.steps):
        scan = scans[next(patients)]  # step
        crops = torch.stack([scan, scan.flip(-1)])
        loss = F.cross_entropy(model(crops), (crops[:, 0] > 0.3).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
