# SPDX-License-Identifier: Apache-2.0
"""scripts/verify_gpu, as far as it goes without a GPU."""

import json
import os
import shutil
import subprocess

import pytest

import runs

SCRIPT = runs.ROOT / "scripts" / "verify_gpu"


def verify(folder, *arguments: str) -> tuple[subprocess.CompletedProcess, dict]:
    done = subprocess.run(
        [SCRIPT, "--simulated", "--into", folder, *arguments], capture_output=True, text=True,
        env={**os.environ, "MEMTRACE_BUILD": str(runs.build()), "MEMTRACE_PYTHON": runs.python()})
    return done, json.loads((folder / "simulated.json").read_text())


def of(found: dict, letter: str) -> dict:
    return next(check for check in found["checks"] if check["check"] == letter)


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine may have a GPU")
def test_without_a_gpu_it_says_so(tmp_path):
    done = subprocess.run([SCRIPT, "--into", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0
    assert "skipped" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_samples_run_under_the_hook(built, tmp_path):
    done, found = verify(tmp_path, "--only", "g")
    samples = of(found, "g")
    assert done.returncode == 0, samples
    says = {one["sample"]: one["says"] for one in samples["results"]}
    assert says.keys() == {"device_memory", "virtual_memory", "pools", "errors"}
    # What the driver's documentation says of them, so that the samples test something.
    assert "cuMemAlloc before cuInit 3" in says["errors"]
    assert "cuMemAlloc of twice the device 2" in says["errors"]
    assert "cuMemFree of before the reset 1" in says["errors"]
    assert all(one["recorded_calls"] > 0 for one in samples["results"])
    assert samples["unverified"]
    assert "compute-sanitizer" in (tmp_path / "simulated.md").read_text()


@pytest.mark.slow
def test_all_of_it_runs_on_the_simulator(built, tmp_path):
    done, found = verify(tmp_path, "--quick")
    assert [check["check"] for check in found["checks"]] == list("abcdefgh")
    failed = {check["check"]: check["wrong"] for check in found["checks"] if check["wrong"]}
    assert not failed and done.returncode == 0
    assert of(found, "e")["status"] == "skipped"
