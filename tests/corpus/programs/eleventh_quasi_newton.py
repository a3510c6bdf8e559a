# SPDX-License-Identifier: Apache-2.0
"""Fits a surrogate by quasi-Newton steps, from the differences of the last parameters and gradients."""

import argparse

import torch
from torch import nn
from torch.optim import Optimizer


class LimitedMemory(Optimizer):
    def __init__(self, params, lr=0.5, history_size=10):
        super().__init__(params, {"lr": lr, "history_size": history_size})
        self.all = self.param_groups[0]["params"]
        state = self.state["global_state"]
        state["old_dirs"], state["old_stps"] = [], []
        state["scale"] = 1.0
        state["prev_flat_grad"] = state["d"] = None

    def gather(self):
        return torch.cat([parameter.grad.reshape(-1) for parameter in self.all])

    def add(self, size, direction):
        start = 0
        for parameter in self.all:
            end = start + parameter.numel()
            parameter.add_(direction[start:end].view_as(parameter), alpha=size)
            start = end

    def curvature_update(self, flat_grad):
        group, state = self.param_groups[0], self.state["global_state"]
        if state["d"] is None:
            return
        change = flat_grad - state["prev_flat_grad"]
        step = state["d"] * group["lr"]
        if len(state["old_dirs"]) == group["history_size"]:
            state["old_dirs"].pop(0)
            state["old_stps"].pop(0)
        state["old_dirs"].append(step)
        state["old_stps"].append(change)
        state["scale"] = change.dot(step) / change.dot(change)

    def two_loop_recursion(self, vector):
        state = self.state["global_state"]
        pairs = list(zip(state["old_dirs"], state["old_stps"], strict=True))
        alphas = []
        for step, change in reversed(pairs):
            alpha = step.dot(vector) / step.dot(change)
            vector = vector - alpha * change
            alphas.append(alpha)
        vector = vector * state["scale"]
        for (step, change), alpha in zip(pairs, reversed(alphas), strict=True):
            vector = vector + (alpha - change.dot(vector) / step.dot(change)) * step
        return vector

    @torch.no_grad()
    def step(self, closure):
        with torch.enable_grad():
            loss = closure()
        flat_grad = self.gather()
        self.curvature_update(flat_grad)
        direction = -self.two_loop_recursion(flat_grad)
        self.add(self.param_groups[0]["lr"], direction)
        self.state["global_state"].update(prev_flat_grad=flat_grad, d=direction)
        return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--history", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(32, 128), nn.Tanh(), nn.Linear(128, 64), nn.Tanh(), nn.Linear(64, 1)).cuda()
    optimizer = LimitedMemory(model.parameters(), history_size=chosen.history)
    rows = torch.randn(256, 32, device="cuda")

    def closure():
        model.zero_grad()
        loss = (model(rows) - rows.square().mean(1, keepdim=True)).square().mean()
        loss.backward()
        return loss

    for _ in range(chosen.steps):
        loss = optimizer.step(closure)  # step
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
