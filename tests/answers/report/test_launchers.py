# SPDX-License-Identifier: Apache-2.0
"""memtrace run in front of what starts a training: each process that uses a GPU is recorded, and the exit
status is the launcher's own. On the simulated GPU, around which memtrace run stands as on a real one."""

import subprocess
import sys

import pytest

import runs

TRAINING = """
import os, sys, torch
if "LOCAL_RANK" in os.environ:
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = torch.nn.Linear(256, 256).cuda()
model(torch.ones(8, 256, device="cuda")).sum().backward()
print("peak", os.environ.get("RANK", "0"), torch.cuda.max_memory_allocated(), flush=True)
sys.exit(int(os.environ.get("WITH_STATUS", "0")))
"""
ENTRY_POINT = """#!/bin/sh
set -e
exec "$@"
"""
BIN = runs.ROOT / ".venv" / "bin"


def under(launcher: str, tmp_path) -> list:
    script = tmp_path / "train.py"
    script.write_text(TRAINING)
    entry = tmp_path / "entry-point"
    entry.write_text(ENTRY_POINT)
    entry.chmod(0o755)
    python = runs.python()
    return {
        "torchrun": [BIN / "torchrun", "--standalone", "--nproc-per-node", "2", script],
        "accelerate": [BIN / "accelerate", "launch", "--num_processes", "1", "--num_machines", "1",
                       "--mixed_precision", "no", "--dynamo_backend", "no", script],
        "entry point": [entry, python, script],
        "env": ["env", "OMP_NUM_THREADS=1", python, script],
    }[launcher]


def run(command: list, tmp_path, **variables) -> subprocess.CompletedProcess:
    line = [runs.memtrace(), "dry-run", "--bare", "--devices", "2", "--site-packages",
            next(path for path in sys.path if path.endswith("site-packages")), "--",
            runs.memtrace(), "run", "--output", tmp_path / "traces", "--", *command]
    return subprocess.run([str(part) for part in line], env=runs.environment(variables), cwd=tmp_path,
                          capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("launcher", ["torchrun", "accelerate", "entry point", "env"])
def test_what_a_launcher_starts_is_recorded(built, tmp_path, launcher):
    done = run(under(launcher, tmp_path), tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    peaks = sorted(line.split()[1:] for line in done.stdout.splitlines() if line.startswith("peak "))
    assert len(peaks) == (2 if launcher == "torchrun" else 1)
    assert done.stderr.startswith("memtrace: records allocations"), done.stderr[:500]
    reported = []
    for trace in runs.traces_in(tmp_path / "traces"):
        made = runs.report([trace], tmp_path)
        reported += [str(device["peak_allocated_bytes"]) for device in made["devices"]
                     if device["peak_allocated_bytes"]]
    assert sorted(reported) == sorted(bytes_ for _, bytes_ in peaks)


def test_the_status_is_the_launchers_own(built, tmp_path):
    bare = subprocess.run([str(part) for part in under("entry point", tmp_path)][:1] + ["sh", "-c", "exit 3"],
                          check=False)
    assert bare.returncode == 3
    assert run(under("entry point", tmp_path), tmp_path, WITH_STATUS="3").returncode == 3
    assert run(under("torchrun", tmp_path), tmp_path, WITH_STATUS="3").returncode == 1
