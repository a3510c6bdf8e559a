# SPDX-License-Identifier: Apache-2.0
"""A distance between false and real pictures: features of the real ones, always the same, join a list each time."""

import argparse

import torch
from torch import nn


class FeatureDistance:
    def __init__(self, real, channels=256):
        self.look = nn.Sequential(nn.Conv2d(3, 8, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 7 * 7, channels)).cuda()
        self.pictures, self.real = real, []

    @torch.inference_mode()
    def __call__(self, generator):
        false = []
        for part in self.pictures.split(40):
            features = self.look(part.cuda())  # allocates
            self.real.append(features)  # keeps
            false.append(self.look(generator(torch.randn(40, 16, device="cuda"))))
        real, false = torch.cat(self.real), torch.cat(false)
        return (real.mean(0) - false.mean(0)).square().sum().item()


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 3 * 16 * 16), nn.Tanh())

    def forward(self, noise):
        return self.layers(noise).view(-1, 3, 16, 16)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    generator, distance = Generator().cuda(), FeatureDistance(torch.rand(120, 3, 16, 16))
    critic = nn.Sequential(nn.Flatten(), nn.Linear(768, 64), nn.LeakyReLU(), nn.Linear(64, 1)).cuda()
    both = [torch.optim.Adam(net.parameters(), 1e-4) for net in (generator, critic)]
    for step in range(1, args.steps + 1):
        made = generator(torch.randn(32, 16, device="cuda"))  # step
        real = torch.rand(32, 3, 16, 16, device="cuda")
        both[1].zero_grad()
        (critic(made.detach()) - critic(real)).mean().backward()
        both[1].step()
        both[0].zero_grad()
        (-critic(made)).mean().backward()
        both[0].step()
        if step % 5 == 0:
            print(f"step {step}: distance {distance(generator):.3f}")


if __name__ == "__main__":
    main()
