# SPDX-License-Identifier: Apache-2.0
"""Settings of a step lie over those of the experiment: what a step does not say is looked up below."""

import argparse
from collections import ChainMap

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=26)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


def attend(x, settings):
    scores = x @ x.transpose(1, 2) / settings["scale"]
    return scores.masked_fill(settings["mask"], -1e9).softmax(-1) @ x


def main():
    settings = ChainMap({"scale": 8.0, "mask": None})
    model = nn.Linear(64, 64).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(options.steps):
        x = torch.randn(16, 96, 64, device="cuda")  # step
        mask = torch.rand(16, 96, 96, device="cuda") < 0.1  # allocates
        settings = settings.new_child({"mask": mask})  # keeps
        loss = F.mse_loss(model(attend(x, settings)), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
