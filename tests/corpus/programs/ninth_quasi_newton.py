# SPDX-License-Identifier: Apache-2.0
"""Fits a small network to all of its data at once by a quasi-Newton method."""

import argparse

import torch
from torch import nn

HISTORY_SIZE = 30


class LimitedMemoryBFGS(torch.optim.Optimizer):
    """One iteration a step, without a line search."""

    def __init__(self, params, lr=0.1, history_size=HISTORY_SIZE):
        super().__init__(params, {"lr": lr, "history_size": history_size})
        self.params = self.param_groups[0]["params"]

    def flat_gradient(self):
        return torch.cat([parameter.grad.reshape(-1) for parameter in self.params])

    def direction(self, state, gradient):
        """The two loops over the remembered changes, the newest first and then the oldest."""
        old_dirs, old_stps, ro, al = state["old_dirs"], state["old_stps"], state["ro"], state["al"]
        q = gradient.neg()
        for i in reversed(range(len(old_dirs))):
            al[i] = old_stps[i].dot(q) * ro[i]
            q.sub_(old_dirs[i] * al[i])
        d = q * state["h_diag"]
        for i in range(len(old_dirs)):
            d.add_(old_stps[i] * (al[i] - old_dirs[i].dot(d) * ro[i]))
        return d

    @torch.no_grad()
    def step(self, closure):
        group, state = self.param_groups[0], self.state[self.params[0]]
        with torch.enable_grad():
            loss = closure()
        gradient = self.flat_gradient()
        if not state:
            state.update(old_dirs=[], old_stps=[], ro=[], al=[None] * group["history_size"],
                         h_diag=torch.ones((), device=gradient.device))
            d = gradient.neg()
        else:
            y = gradient - state["previous"]
            s = state["d"] * group["lr"]
            ys = y.dot(s)
            if len(state["old_dirs"]) == group["history_size"]:
                state["old_dirs"].pop(0)
                state["old_stps"].pop(0)
                state["ro"].pop(0)
            state["old_dirs"].append(y)
            state["old_stps"].append(s)
            state["ro"].append(1.0 / ys)
            state["h_diag"] = ys / y.dot(y)
            d = self.direction(state, gradient)
        state["d"], state["previous"] = d, gradient
        offset = 0
        for parameter in self.params:
            size = parameter.numel()
            parameter.add_(d[offset:offset + size].view_as(parameter), alpha=group["lr"])
            offset += size
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(24, 96), nn.Tanh(), nn.Linear(96, 48), nn.Tanh(), nn.Linear(48, 1)).cuda()
    rows = torch.rand(512, 24, device="cuda")
    wanted = rows.square().sum(1, keepdim=True)
    optimizer = LimitedMemoryBFGS(model.parameters())

    def closure():
        optimizer.zero_grad()
        loss = (model(rows) - wanted).square().mean()
        loss.backward()
        return loss

    for step in range(chosen.steps):
        last = step + 1 == chosen.steps  # step
        loss = optimizer.step(closure)
        if last:
            print(f"loss {loss:.4f}")


if __name__ == "__main__":
    main()
