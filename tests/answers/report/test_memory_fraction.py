# SPDX-License-Identifier: Apache-2.0
"""A program that allows PyTorch a part of the GPU: the part is what runs out, not the GPU."""

import runs

PROGRAM = """
import torch
torch.cuda.set_per_process_memory_fraction(0.25)
kept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(12)]
"""


def test_what_it_allows_itself_is_what_runs_out(built, tmp_path):
    script = tmp_path / "fraction.py"
    script.write_text(PROGRAM)
    outcome = runs.run([runs.python(), script], tmp_path / "traces").expect(1)
    allowed = int(25_437_405_184 * 0.25)  # of the simulated GPU
    (oom,) = runs.report(outcome.traces, tmp_path)["oom"]
    assert oom["capacity_bytes"] == allowed
    assert oom["free_bytes"] == allowed - (5 << 30) == allowed - oom["allocated_bytes"]
    text = runs.report_text(outcome.traces)
    assert "of the 5.92 GiB that set_per_process_memory_fraction allows: 5 GiB allocated" in text
    assert "23.69 GiB (simulated), 5.92 GiB of it for PyTorch (set_per_process_memory_fraction)" in text
    assert "in pieces" not in text
