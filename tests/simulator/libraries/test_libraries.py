# SPDX-License-Identifier: Apache-2.0
"""Real PyTorch on the simulated cuDNN and NCCL."""
import subprocess
from pathlib import Path

import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"


def run(program, *arguments, devices=1):
    command = [str(runs.memtrace()), "dry-run", "--bare", "--gpu", "a100-40", "--devices", str(devices), "--",
               runs.python(), str(PROGRAMS / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


def test_recurrent_networks_have_one_weight_space(built):
    result = run("recurrent.py")
    assert result.stdout.endswith("done\n"), result.stderr


def test_ranks_exchange_and_train(built, tmp_path):
    result = run("ranks.py", str(tmp_path), devices=2)
    assert result.stdout.endswith("done\n"), result.stderr
