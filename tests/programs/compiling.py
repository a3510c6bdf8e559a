# SPDX-License-Identifier: Apache-2.0
"""Shared by the programs of this folder. `tell` is the harness's way in; alone it does nothing."""

import argparse
from pathlib import Path
import sys

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def _nobody(kind, *tensors):
    pass


tell = _nobody  # what the harness replaces: told("inputs", tensor...), told("step")


def options(steps: int, *flags: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--eager", action="store_true", help="the same without torch.compile")
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    return chosen


def compiled(chosen: argparse.Namespace, what, **how):
    return what if chosen.eager else torch.compile(what, **how)


def steps(batches):
    """The batches on the GPU, one step each."""
    for batch in batches:
        moved = tuple(one.to(DEVICE) for one in batch)
        tell("inputs", *moved)
        yield moved
        tell("step")


def finish() -> None:
    peak = torch.cuda.max_memory_allocated() if DEVICE == "cuda" else 0
    print(f"{Path(sys.argv[0]).stem}: peak {peak} bytes")
