# SPDX-License-Identifier: Apache-2.0
"""A vocoder; spectrograms for the dashboard are noted as they come and written every sixteenth step."""

import argparse
import io

import torch
import torch.nn.functional as F
from torch import nn


class Dashboard:
    def __init__(self, stream, flush_every):
        self.stream, self.flush_every = stream, flush_every
        self.pending = []

    def add(self, tag, value, step):
        self.pending.append((tag, value.detach(), step))

    def maybe_flush(self, step):
        if step % self.flush_every == 0:
            self.flush()

    def flush(self):
        while self.pending:
            tag, value, step = self.pending.pop(0)
            self.stream.write(f"{step} {tag} {tuple(value.cpu().shape)}\n")


class Vocoder(nn.Module):
    def __init__(self, bands=64, hop=16):
        super().__init__()
        self.into = nn.Conv1d(bands, 48, 5, padding=2)
        self.out = nn.ConvTranspose1d(48, 1, hop, stride=hop)
        self.back = nn.Conv1d(1, bands, hop, stride=hop)

    def forward(self, spectrogram):
        sound = torch.tanh(self.out(F.leaky_relu(self.into(spectrogram), 0.1)))
        return sound, self.back(sound)  # fills


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    vocoder, dashboard = Vocoder().cuda(), Dashboard(io.StringIO(), flush_every=16)
    optimizer = torch.optim.AdamW(vocoder.parameters(), lr=2e-4, betas=(0.8, 0.99))
    for step in range(1, args.steps + 1):
        wanted = torch.randn(8, 64, 50).cuda()  # step
        sound, spectrogram = vocoder(wanted)
        loss = F.l1_loss(spectrogram, wanted) + sound.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        dashboard.add("spectrogram", spectrogram, step)
        dashboard.maybe_flush(step)
    dashboard.flush()


if __name__ == "__main__":
    main()
