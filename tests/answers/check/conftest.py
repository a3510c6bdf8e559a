# SPDX-License-Identifier: Apache-2.0
"""Runs of tests/programs/train.py, each recorded once, and what PyTorch said of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import recordings
import runs
from checks import PROGRAM


@dataclass
class Training:
    trace: Path
    program: Path  # as it stands in frames
    allocated: list[int]  # of each device, torch.cuda.max_memory_allocated
    reserved: list[int]


@pytest.fixture(scope="session")
def trained(built, tmp_path_factory):
    """A function from arguments of the program to its recorded run."""
    known: dict[tuple, Training] = {}

    def train(*arguments) -> Training:
        if arguments not in known:
            folder = tmp_path_factory.mktemp("run")
            done = recordings.run([runs.python(), PROGRAM, *arguments], folder, devices=2)
            done.expect(-9 if "--killed" in arguments else 0)
            trace, = done.traces
            peaks = json.loads(done.stdout)
            known[arguments] = Training(trace, done.ran(PROGRAM), [one[0] for one in peaks], [one[1] for one in peaks])
        return known[arguments]

    return train
