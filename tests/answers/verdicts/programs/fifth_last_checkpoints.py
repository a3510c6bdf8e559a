# SPDX-License-Identifier: Apache-2.0
"""Averages the weights of the last checkpoints, which stay on the device to be quick."""

import argparse
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class CheckpointAverage:
    def __init__(self, model, last):
        self.model = model
        self.states = deque(maxlen=last)

    def save(self):
        self.states.append({name: value.detach().clone() for name, value in self.model.state_dict().items()})

    def averaged(self):
        return {name: torch.stack([state[name] for state in self.states]).mean(0) for name in self.states[0]}


def network():
    return nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 128), nn.Tanh(), nn.Linear(128, 1)).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save-every", type=int, default=3)
    parser.add_argument("--keep-last", type=int, default=9)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model, tested = network(), network()
    average = CheckpointAverage(model, args.keep_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for step in range(args.steps):
        x, y = torch.randn(64, 128).cuda(), torch.randn(64, 1).cuda()  # step
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.save_every == 0:
            average.save()
            tested.load_state_dict(average.averaged())
            with torch.no_grad():
                print(step, F.mse_loss(tested(x), y).item())


if __name__ == "__main__":
    main()
