# SPDX-License-Identifier: Apache-2.0
"""Moves simulated arms to their goals, with plans made by gradients through a learned model of the arms."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    arms: int = 64
    joints: int = 8
    controls: int = 4
    horizon: int = 12
    iterations: int = 3
    rate: float = 0.05


class Dynamics(nn.Module):
    def __init__(self, joints, controls):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(joints + controls, 48), nn.SiLU(), nn.Linear(48, joints))

    def forward(self, state, control):
        return state + self.net(torch.cat([state, control], -1))


class Planner:
    def __init__(self, dynamics, settings):
        self.dynamics, self.settings = dynamics, settings
        shape = (settings.horizon, settings.arms, settings.controls)
        self.plan = torch.zeros(shape, device="cuda", requires_grad=True)

    def cost(self, state, goal):
        total = 0.0
        for control in self.plan:
            state = self.dynamics(state, control)
            total = total + (state - goal).square().mean() + 1e-3 * control.square().mean()
        return total

    def act(self, state, goal):
        """The first control of the improved plan; the rest is where the next call starts from."""
        for _ in range(self.settings.iterations):
            slope, = torch.autograd.grad(self.cost(state, goal), self.plan)
            moved = self.plan - self.settings.rate * slope  # allocates
            self.plan = moved.clamp(-1.0, 1.0)  # keeps
        control = self.plan[0].detach().clone()
        self.plan = torch.cat([self.plan[1:], self.plan[-1:]])
        return control


class Arms:
    """The real ones: linear, with a little noise."""

    def __init__(self, settings):
        self.drift = 0.02 * torch.randn(settings.joints, settings.joints, device="cuda")
        self.gain = torch.randn(settings.controls, settings.joints, device="cuda")
        self.state = torch.zeros(settings.arms, settings.joints, device="cuda")

    def move(self, control):
        noise = 0.01 * torch.randn_like(self.state)
        self.state = self.state + self.state @ self.drift + control @ self.gain + noise
        return self.state


def fit(dynamics, optimizer, before, control, after):
    loss = (dynamics(before, control) - after).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    settings = Settings()
    dynamics = Dynamics(settings.joints, settings.controls).cuda()
    optimizer = torch.optim.Adam(dynamics.parameters(), lr=1e-3)
    planner, arms = Planner(dynamics, settings), Arms(settings)
    goal = torch.randn(settings.arms, settings.joints, device="cuda")
    for step in range(chosen.steps):
        before = arms.state  # step
        control = planner.act(before, goal)
        error = fit(dynamics, optimizer, before, control, arms.move(control))
        if step % 4 == 0:
            print(f"move {step}: model error {error:.4f}")


if __name__ == "__main__":
    main()
