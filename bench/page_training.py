# SPDX-License-Identifier: Apache-2.0
"""A training of about so many events (allocated, to be freed, freed: three a block), which PyTorch's own
recorder follows, too: the same run for memtrace's page and for memory_viz.

Usage: page_training.py EVENTS [SNAPSHOT]     SNAPSHOT: the file for PyTorch's snapshot"""

import sys

import torch

KEPT_ENTRIES = 40_000_000  # more than any run here has, so that the recorder forgets nothing


def events_so_far() -> int:
    counters = torch.cuda.memory_stats()
    return counters["allocation.all.allocated"] + 2 * counters["allocation.all.freed"]


def main(events: int, snapshot: str) -> None:
    if snapshot:
        torch.cuda.memory._record_memory_history(max_entries=KEPT_ENTRIES, stacks="python")
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 512, batch_first=True, dropout=0.0)
    model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    while events_so_far() < events:
        length = int(torch.randint(16, 129, ()))
        batch = torch.zeros(8, length, 128, device="cuda")
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    if snapshot:
        torch.cuda.memory._dump_snapshot(snapshot)
        torch.cuda.memory._record_memory_history(enabled=None)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
