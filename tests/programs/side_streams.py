# SPDX-License-Identifier: Apache-2.0
"""Branches of one model on streams of their own, tensors used on streams that did not make them,
and memory that is freed while another stream still works on it."""

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=6)
    left, right = (nn.Linear(512, 512).to(DEVICE) for _ in range(2))
    optimizer = torch.optim.Adam([*left.parameters(), *right.parameters()])
    branches = [torch.cuda.Stream(), torch.cuda.Stream(priority=-1)]
    rows = ((torch.rand(1024 + 256 * step, 512),) for step in range(chosen.steps))
    for (row,) in on_device(rows, chosen.streams):
        main_stream = torch.cuda.current_stream()
        results = []
        for branch, layer in zip(branches, (left, right)):
            branch.wait_stream(main_stream)
            with torch.cuda.stream(branch):
                row.record_stream(branch)
                results.append(layer(row).relu())
        for branch, result in zip(branches, results):
            main_stream.wait_stream(branch)
            result.record_stream(main_stream)
        loss = (results[0] - results[1]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for branch in branches:
            scratch = torch.empty(1 << 20, device=DEVICE)
            scratch.record_stream(branch)
            with torch.cuda.stream(branch):
                scratch.mul_(2)
            del scratch
    torch.cuda.synchronize()
    print(f"side streams: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
