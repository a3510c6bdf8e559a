# SPDX-License-Identifier: Apache-2.0
"""A network that is made wider twice in the run, weights taken over."""

import argparse

import torch
from torch import nn


def make(hidden):
    model = nn.Sequential(nn.Linear(300, hidden), nn.ReLU(), nn.Linear(hidden, 300)).cuda()
    return model, torch.optim.Adam(model.parameters())


@torch.no_grad()
def widen(model, hidden):
    wider, optimizer = make(hidden)
    old = model[0].out_features
    wider[0].weight[:old], wider[0].bias[:old] = model[0].weight, model[0].bias
    wider[2].weight[:, :old], wider[2].bias[:] = model[2].weight, model[2].bias
    return wider, optimizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model, optimizer = make(256)
    for step in range(chosen.steps):
        if step in (chosen.steps // 3, chosen.steps * 2 // 3):
            model, optimizer = widen(model, 2 * model[0].out_features)
        signal = torch.randn(64, 300, device="cuda")
        loss = nn.functional.mse_loss(model(signal), signal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
