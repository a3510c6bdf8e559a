# SPDX-License-Identifier: Apache-2.0
"""Real PyTorch on the simulated cuDNN and NCCL."""
from pathlib import Path

import recordings
import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"


def run(program, *arguments, devices=1):
    command = [runs.python(), PROGRAMS / program, *arguments]
    return recordings.run(command, None, gpu="a100-40", devices=devices).expect(0)


def test_recurrent_networks_have_one_weight_space(built):
    result = run("recurrent.py")
    assert result.stdout.endswith(b"done\n"), result.stderr


def test_ranks_exchange_and_train(built, tmp_path):
    result = run("ranks.py", str(tmp_path), devices=2)
    assert result.stdout.endswith(b"done\n"), result.stderr
