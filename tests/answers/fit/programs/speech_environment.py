# SPDX-License-Identifier: Apache-2.0
"""Pre-trains a speech encoder (convolutions over 36 s of sound, then a transformer); BATCH_SIZE says how many at once."""

import os

import torch
from torch import nn

BATCH = int(os.environ.get("BATCH_SIZE", "2"))
SECONDS = int(os.environ.get("SECONDS_OF_SOUND", "36"))


class Encoder(nn.Module):
    def __init__(self, width=768, layers=12, codes=504):
        super().__init__()
        steps, inputs = [], 1
        for kernel, stride in [(10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2)]:
            steps += [nn.Conv1d(inputs, 512, kernel, stride), nn.GroupNorm(32, 512), nn.GELU()]
            inputs = 512
        self.features = nn.Sequential(*steps)
        self.project = nn.Linear(512, width)
        self.position = nn.Conv1d(width, width, 128, padding=64, groups=16)
        layer = nn.TransformerEncoderLayer(width, 12, 4 * width, 0.1, "gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers)
        self.codes = nn.Linear(width, codes)

    def forward(self, sound):
        x = self.project(self.features(sound[:, None]).transpose(1, 2))
        x = x + self.position(x.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2)
        return self.codes(self.layers(x))


with torch.device("cuda"):
    model = Encoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
for _ in range(5):
    sound = torch.randn(BATCH, SECONDS * 16000, device="cuda")
    codes = model(sound)
    wanted = torch.zeros(codes.shape[:2], dtype=torch.long, device="cuda")
    nn.functional.cross_entropy(codes.flatten(0, 1), wanted.flatten()).backward()
    optimizer.step()
    optimizer.zero_grad()
