# SPDX-License-Identifier: Apache-2.0
"""A GAN: two models, two optimizers, samples looked at now and then."""

import argparse

import torch
from torch import nn


def mlp(*widths):
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1]).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    generator, critic = mlp(64, 256, 784), mlp(784, 256, 1)
    generator_steps = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    critic_steps = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    judge = nn.BCEWithLogitsLoss()
    fixed = torch.randn(64, 64, device="cuda")
    samples = None
    for step in range(chosen.steps):
        real = torch.rand(64, 784, device="cuda")
        fake = generator(torch.randn(64, 64, device="cuda"))
        critic_steps.zero_grad()
        scores = critic(torch.cat([real, fake.detach()]))
        judge(scores[:64], torch.ones(64, 1, device="cuda")).backward(retain_graph=True)
        judge(scores[64:], torch.zeros(64, 1, device="cuda")).backward()
        critic_steps.step()
        generator_steps.zero_grad()
        judge(critic(fake), torch.ones(64, 1, device="cuda")).backward()
        generator_steps.step()
        if step % 10 == 0:
            with torch.no_grad():
                samples = generator(fixed).view(-1, 1, 28, 28)
    print(tuple(samples.shape))


if __name__ == "__main__":
    main()
