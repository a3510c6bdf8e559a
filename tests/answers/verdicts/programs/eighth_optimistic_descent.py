# SPDX-License-Identifier: Apache-2.0
"""A GAN on rows of numbers, both players trained by optimistic gradient descent."""

import argparse

import torch
from torch import nn
from torch.nn.functional import softplus


class OptimisticSGD(torch.optim.Optimizer):
    """Daskalakis et al.: w <- w - 2 lr g(t) + lr g(t-1)."""

    def __init__(self, parameters, lr=0.01, weight_decay=0.0):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                self._update(parameter, group["lr"], group["weight_decay"])

    def _update(self, parameter, lr, weight_decay):
        state = self.state[parameter]
        if not state:
            state["past"] = []
        gradient = parameter.grad.add(parameter, alpha=weight_decay)  # allocates
        past = state["past"]
        past.append(gradient)  # keeps
        earlier = past[-2] if len(past) > 1 else gradient
        parameter.add_(gradient, alpha=-2 * lr).add_(earlier, alpha=lr)


class Game:
    def __init__(self, latent=16, width=64):
        self.latent, self.width = latent, width
        self.generator = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, width)).cuda()
        self.critic = nn.Sequential(nn.Linear(width, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1)).cuda()
        self.of_generator = OptimisticSGD(self.generator.parameters(), lr=0.02)
        self.of_critic = OptimisticSGD(self.critic.parameters(), lr=0.02, weight_decay=1e-4)

    def fake(self, count):
        return self.generator(torch.randn(count, self.latent, device="cuda"))

    def critic_turn(self, real):
        self.of_critic.zero_grad()
        with torch.no_grad():
            fake = self.fake(len(real))
        loss = softplus(-self.critic(real)).mean() + softplus(self.critic(fake)).mean()
        loss.backward()
        self.of_critic.step()
        return loss.item()

    def generator_turn(self, count):
        self.of_generator.zero_grad()
        loss = softplus(-self.critic(self.fake(count))).mean()
        loss.backward()
        self.of_generator.step()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=32)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    game = Game()
    for step in range(chosen.steps):
        real = torch.randn(chosen.batch, game.width, device="cuda").cumsum(1)  # step
        critic, generator = game.critic_turn(real), game.generator_turn(chosen.batch)
        if step % 12 == 0:
            print(f"step {step}: critic {critic:.3f}, generator {generator:.3f}")


if __name__ == "__main__":
    main()
