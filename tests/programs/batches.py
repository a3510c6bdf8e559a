# SPDX-License-Identifier: Apache-2.0
"""Shared by the programs of this folder: their options, and batches that arrive on the GPU."""

import argparse

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def options(steps: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument(
        "--streams", action="store_true",
        help="copy batches on a stream of their own, ahead of their use (record_stream)",
    )
    chosen = parser.parse_args()
    torch.manual_seed(0)
    return chosen


class Prefetcher:
    """Copies host tensors on a side stream; they may be reused once the computing stream is done."""

    def __init__(self):
        self.copying = torch.cuda.Stream()

    def copy(self, batch: tuple) -> tuple:
        with torch.cuda.stream(self.copying):
            return tuple(tensor.pin_memory().to(DEVICE, non_blocking=True) for tensor in batch)

    def hand_over(self, batch: tuple) -> tuple:
        computing = torch.cuda.current_stream()
        computing.wait_stream(self.copying)
        for tensor in batch:
            tensor.record_stream(computing)
        return batch


def on_device(batches, streams: bool):
    """The batches (tuples of host tensors) on the device; with streams, one batch ahead."""
    if not streams:
        for batch in batches:
            yield tuple(tensor.to(DEVICE) for tensor in batch)
        return
    prefetcher = Prefetcher()
    ahead = None
    for batch in batches:
        following = prefetcher.copy(batch)
        if ahead is not None:
            yield prefetcher.hand_over(ahead)
        ahead = following
    if ahead is not None:
        yield prefetcher.hand_over(ahead)


def peak() -> int:
    """Bytes; 0 where there is no GPU."""
    return torch.cuda.max_memory_allocated() if DEVICE == "cuda" else 0
