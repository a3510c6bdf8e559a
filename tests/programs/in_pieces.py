# SPDX-License-Identifier: Apache-2.0
"""Leaves small blocks between large free pieces, until a request finds enough free memory, but no piece that holds it."""

import torch

MIB = 1 << 20


def block(mib: int) -> torch.Tensor:
    return torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")


def main() -> None:
    passing, survivors = [], []
    for _ in range(24):
        passing.append(block(14))
        survivors.append(block(6))
    passing.clear()
    survivors.append(block(300))


if __name__ == "__main__":
    main()
