# SPDX-License-Identifier: Apache-2.0
"""Classifies with a model in float16, which is converted on the GPU. --changed: on the way there."""

import argparse

import torch
from torch import nn


def load(changed):
    model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(30)]).eval()
    if changed:
        return model.to("cuda", torch.float16)
    model.to("cuda")
    return model.half()


parser = argparse.ArgumentParser()
parser.add_argument("--changed", action="store_true")
model = load(parser.parse_args().changed)
with torch.inference_mode():
    for _ in range(20):
        model(torch.randn(8, 4096, device="cuda", dtype=torch.float16))
