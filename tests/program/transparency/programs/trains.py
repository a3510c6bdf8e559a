# SPDX-License-Identifier: Apache-2.0
"""Three steps of a small model; the names that its trace must have are those of `models.Model`."""

import os
import sys

sys.path.insert(0, os.environ.get("MODELS") or os.path.dirname(__file__))

import torch

import models


def main(steps=3):
    model, _ = models.hooked("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        models.step(model, optimizer, "cuda")
    print("trained", flush=True)


if __name__ == "__main__":
    main()
