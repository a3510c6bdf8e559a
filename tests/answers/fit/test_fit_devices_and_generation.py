# SPDX-License-Identifier: Apache-2.0
"""memtrace fit with a batch of generation's own, and with two GPUs: the batch that trying every batch finds."""

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

import brute_force
import recordings
import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"
SCHEMA = json.loads((runs.ROOT / "analyzer" / "plan" / "fit" / "fit.schema.json").read_text())
GPU, MEMORY = "rtx3090", "1GiB"
pytestmark = pytest.mark.skipif(runs.on_real_gpu(), reason="it simulates GPUs of a small size")

PATIENCE_S = 800


def dry_run(command: list, devices: int) -> runs.Outcome:
    return recordings.run([runs.python(), *command], None, gpu=GPU, memory=MEMORY, devices=devices, timeout=PATIENCE_S)


def largest_of_every_batch(flag: str, program: list, devices: int = 1) -> int:
    outcomes = ""
    while not brute_force.done(outcomes):
        tried = dry_run([*program, flag, len(outcomes) + 1], devices)
        refused = b"CUDA out of memory" in tried.stderr  # two processes write their lines into one another
        assert tried.status == 0 or refused, tried.stderr[-2000:]  # each for this reason
        outcomes += "o" if tried.status else "f"
    assert brute_force.monotone(outcomes)
    return brute_force.largest(outcomes)


def fitted(folder: Path, options: list, program: list) -> dict:
    line = [runs.memtrace(), "fit", "--gpu", f"{GPU}:{MEMORY}", "--batch", "--batch-size {}", *options, "--no-advice", "--no-cache",
            "--json", folder / "fit.json", "--", runs.python(), *program]
    done = subprocess.run([str(part) for part in line], check=False, capture_output=True, text=True, cwd=folder,
                          env=runs.environment(), timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    document = json.loads((folder / "fit.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    row, = document["rows"]
    return row


@pytest.mark.slow
def test_the_batch_of_generation_beside_the_largest_training_batch(built, tmp_path):
    program = [PROGRAMS / "trains_then_generates.py"]
    row = fitted(tmp_path, ["--generation-batch", "--generation-batch {}"], program)
    training = largest_of_every_batch("--batch-size", program)
    beside = largest_of_every_batch("--generation-batch", [*program, "--batch-size", training])
    assert row["verified"] and (row["largest_batch"], row["refused_batch"]) == (training, training + 1)
    found = row["generation"]
    assert found["verified"] and (found["largest_batch"], found["refused_batch"]) == (beside, beside + 1)
    # Beside a smaller training batch more fits: it is the largest one that this was looked for with.
    dry_run([*program, "--batch-size", 1, "--generation-batch", beside + 1], 1).expect(0)
    assert "evaluation" not in row


@pytest.mark.parametrize("processes", [pytest.param([], id="one process", marks=pytest.mark.slow),
                                       pytest.param(["--process-each"], id="a process each", marks=pytest.mark.slow)])
def test_the_fullest_of_two_gpus_decides(built, tmp_path, processes):
    program = [PROGRAMS / "two_gpus.py", *processes]
    row = fitted(tmp_path, ["--devices", "2"], program)
    largest = largest_of_every_batch("--batch-size", program, devices=2)
    assert row["verified"] and (row["largest_batch"], row["refused_batch"]) == (largest, largest + 1)
    fits = dry_run([*program, "--batch-size", largest], 2)
    fits.expect(0)
    reserved = {gpu: peak for line in fits.stdout.splitlines() for gpu, peak in json.loads(line).items()}
    assert row["peak_reserved_bytes"] == reserved["1"] > reserved["0"]
