# SPDX-License-Identifier: Apache-2.0
"""Leaves every other of thousands of small blocks, so that the map of a segment is a long text."""

import torch


def main():
    kept = [torch.empty(256, device="cuda") for _ in range(6000)]
    del kept[::2]
    large = [torch.empty(64 << 20, device="cuda") for _ in range(4)]
    print(len(kept), len(large))


main()
