# SPDX-License-Identifier: Apache-2.0
"""Stores that have an end, in whole programs: what the first line says, and how much room is told beside it."""

import pytest

import recordings
import runs

PROGRAM = """
from collections import OrderedDict, deque
import torch
from torch import nn

class Store:
    def __init__(self, most):
        self.most, self.count = most, 0
        self.full = deque(maxlen=most)
        self.items = OrderedDict()

    def put(self, step, rows):
        {put}

net = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
store = Store({most})
for step in range({steps}):
    with torch.no_grad():
        store.put(step, net(torch.randn(64, 1024, device="cuda")).split(16))
"""
TRIMS = """made = [row.clone() for row in rows]
        for number, row in enumerate(made):
            self.items[step, number] = row
        while len(self.items) > self.most:
            self.items.popitem(last=False)"""
COUNTS = """kept = torch.cat(rows)
        self.items[step] = kept
        self.count += len(kept)
        while self.count > self.most:
            old = self.items.popitem(last=False)[1]
            self.count -= len(old)"""
NEVER = COUNTS.replace("self.count += len(kept)", "self.count = len(kept)")
FILLS = "self.full.append(torch.cat(rows))"


@pytest.mark.parametrize("put, most, steps, says", [
    (TRIMS, 4000, 150, "`store.items` grows up to a bound"),
    (COUNTS, 64000, 150, "`store.items` grows up to a bound"),
    (NEVER, 64000, 150, "kept by `store.items`"),
    (FILLS, 150, 150, "`store.full` grows up to a bound")])
def test_the_first_line_knows_the_end_of_a_store(built, tmp_path, put, most, steps, says):
    program = tmp_path / "store.py"
    program.write_text(PROGRAM.format(put=put, most=most, steps=steps))
    headline = recordings.record(program, memory="2GiB").expect(0).report()["headline"]["text"]
    assert says in headline
    assert headline.startswith("LEAKS" if put is NEVER else "FITS")


@pytest.mark.parametrize("most, is_told", [(150, True), (8000, False)])
def test_room_is_what_a_store_leaves_that_is_not_full_yet(built, tmp_path, most, is_told):
    """Each element has 256 KiB: 8,000 of them are the GPU's 2 GiB."""
    program = tmp_path / "store.py"
    program.write_text(PROGRAM.format(put=FILLS, most=most, steps=150))
    said = runs.report_text(recordings.record(program, memory="2GiB").expect(0).traces)
    assert ("Less than half of GPU 0 was in use" in said) == is_told
