# SPDX-License-Identifier: Apache-2.0
"""Code that the inductor generated, forward and backward, with another size that compiles anew."""
import torch

DEVICE = "cuda"


def main():
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU()).to(DEVICE)
    compiled = torch.compile(model)
    for size in (8, 8, 16, 8):
        compiled(torch.rand(size, 64, device=DEVICE)).sum().backward()


main()
