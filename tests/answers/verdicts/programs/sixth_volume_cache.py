# SPDX-License-Identifier: Apache-2.0
"""Segments organs: a patient's volume is resampled when first drawn, and patches are cut from it on the GPU."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset, RandomSampler


class Patients(Dataset):
    def __init__(self, count, size=32):
        self.raw = torch.randint(-1000, 1000, (count, 1, 24, 40, 40), dtype=torch.int16)
        self.size = size
        self.prepared = {}

    def __len__(self):
        return len(self.raw)

    def __getitem__(self, patient):
        if patient not in self.prepared:
            volume = self.raw[patient].cuda().float().clamp(-160, 240)
            volume = F.interpolate(volume[None], size=(self.size,) * 3, mode="trilinear")[0]
            self.prepared[patient] = (volume + 160) / 400
        return self.prepared[patient]

    def patches(self, patient, count=4, edge=16):
        volume = self[patient]
        corners = torch.randint(0, self.size - edge + 1, (count, 3)).tolist()
        return torch.stack([volume[:, z:z + edge, y:y + edge, x:x + edge] for z, y, x in corners])


class Segmenter(nn.Module):
    def __init__(self, organs=3, width=8):
        super().__init__()
        self.down = nn.Conv3d(1, width, 3, 2, 1)
        self.middle = nn.Conv3d(width, width, 3, padding=1)
        self.up = nn.ConvTranspose3d(width, organs, 2, 2)

    def forward(self, x):
        x = F.leaky_relu(self.down(x))
        return self.up(F.leaky_relu(self.middle(x)))


def drawn(patients):
    while True:
        yield from RandomSampler(patients)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--patients", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    patients, model = Patients(args.patients), Segmenter().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.99, nesterov=True)
    patient = drawn(patients)
    for _ in range(args.steps):
        patches = patients.patches(next(patient))  # step
        organs = torch.randint(0, 3, patches[:, 0].shape, device="cuda")
        loss = F.cross_entropy(model(patches), organs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
