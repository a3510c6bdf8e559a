# SPDX-License-Identifier: Apache-2.0
"""Trains a generator against a critic whose gradient is held near one, and plots both losses at the end."""

import argparse

import torch
from torch import nn


def gradient_penalty(critic, real, fake):
    weight = torch.rand(real.shape[0], 1, device="cuda")
    between = (weight * real + (1 - weight) * fake).requires_grad_(True)  # allocates
    score = critic(between)
    gradient, = torch.autograd.grad(score, between, torch.ones_like(score), create_graph=True, retain_graph=True)
    return (gradient.norm(2, dim=1) - 1).square().mean()


class Training:
    def __init__(self, noise=32, width=96, data=64, strength=10.0):
        self.noise, self.data, self.strength = noise, data, strength
        self.generator = nn.Sequential(nn.Linear(noise, width), nn.ReLU(), nn.Linear(width, data)).cuda()
        self.critic = nn.Sequential(nn.Linear(data, width), nn.LeakyReLU(0.2), nn.Linear(width, 1)).cuda()
        self.of_generator = torch.optim.Adam(self.generator.parameters(), lr=1e-4, betas=(0.0, 0.9))
        self.of_critic = torch.optim.Adam(self.critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
        self.critic_losses, self.generator_losses = [], []

    def critic_step(self, real):
        with torch.no_grad():
            fake = self.generator(torch.randn(real.shape[0], self.noise, device="cuda"))
        self.of_critic.zero_grad()
        penalty = gradient_penalty(self.critic, real, fake)
        loss = self.critic(fake).mean() - self.critic(real).mean() + self.strength * penalty  # allocates
        loss.backward()  # allocates
        self.of_critic.step()
        return loss

    def generator_step(self, rows):
        self.of_generator.zero_grad()
        fake = self.generator(torch.randn(rows, self.noise, device="cuda"))
        loss = -self.critic(fake).mean()  # allocates
        loss.backward()
        self.of_generator.step()
        return loss

    def step(self, rows=64):
        real = torch.randn(rows, self.data, device="cuda")  # step
        self.critic_losses.append(self.critic_step(real))  # keeps
        self.generator_losses.append(self.generator_step(rows))  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    training = Training()
    for _ in range(chosen.steps):
        training.step()
    print(f"critic {training.critic_losses[-1]:.3f}, generator {training.generator_losses[-1]:.3f}")


if __name__ == "__main__":
    main()
