# SPDX-License-Identifier: Apache-2.0
"""transformers, Lightning and accelerate train, and what they log is what the report and PyTorch say."""

import csv

import pytest

import logged
import runs

pytestmark = pytest.mark.usefixtures("built")


@logged.needs("transformers", "accelerate", "tensorboard")
def test_a_huggingface_trainer(tmp_path):
    outcome = logged.run("huggingface", tmp_path / "run", "attached", 1, output=tmp_path / "traces")
    history = logged.said(outcome, "history")
    numbers = [{name: value for name, value in row.items() if name in logged.NAMES} for row in history]
    assert "train_runtime" in history[-1]
    assert [row for row in numbers if row] == [numbers[-1]]  # an hour between readings: only at the end
    allocated, reserved = logged.said(outcome, "torch")
    assert numbers[-1][logged.ALLOCATED] == allocated
    assert numbers[-1][logged.RESERVED] == reserved

    report = logged.report_of(outcome, tmp_path)
    assert numbers[-1][logged.ALLOCATED] == report["devices"][0]["peak_allocated_bytes"]
    assert numbers[-1][logged.RESERVED] == report["devices"][0]["peak_reserved_bytes"]
    # Its trackers come before callbacks that a program names, and had the numbers all the same.
    series = logged.in_tensorboard(tmp_path / "run")
    assert series[f"train/{logged.ALLOCATED}"] == [(12, allocated)]

    assert report["steps"]["count"] == 12
    assert report["steps"]["boundary"] == "user"
    assert logged.phases_in(outcome) == [
        *["train step"] * 6, "evaluation", *["train step"] * 6, "evaluation", "saving"]
    # From its beginning to its end: the Trainer has no event for the former.
    evaluations = logged.said(outcome, "evaluations")
    assert logged.phases_of(report)["evaluation"]["peak_allocated_bytes"] == max(evaluations)


@pytest.mark.slow
@logged.needs("transformers", "accelerate", "tensorboard")
def test_numbers_at_every_log_of_a_trainer_that_accumulates_gradients(tmp_path):
    outcome = logged.run("huggingface", tmp_path / "run", "often", 2, output=tmp_path / "traces")
    history = logged.said(outcome, "history")
    peaks = [row[logged.ALLOCATED] for row in history]
    assert len(peaks) == 12 // 3 + 2 + 1  # losses, evaluations, the end
    assert peaks == sorted(peaks)
    assert peaks[-1] == logged.said(outcome, "torch")[0]
    report = logged.report_of(outcome, tmp_path)
    assert report["steps"]["count"] == 12  # updates, not batches
    assert logged.phases_of(report)["train step"]["times"] == 12


@pytest.mark.slow
@logged.needs("transformers", "accelerate", "tensorboard")
def test_a_callback_in_the_list_of_callbacks(tmp_path):
    outcome = logged.run("huggingface", tmp_path / "run", "listed", 1, output=tmp_path / "traces")
    assert logged.said(outcome, "history")[-1][logged.ALLOCATED] == logged.said(outcome, "torch")[0]
    assert logged.phases_of(logged.report_of(outcome, tmp_path))["evaluation"]["times"] == 2


@pytest.mark.slow
@logged.needs("transformers", "accelerate", "tensorboard")
def test_a_trainer_without_memtrace(tmp_path):
    outcome = logged.run("huggingface", tmp_path / "run", "often", 1, output=None)
    history = logged.said(outcome, "history")
    assert len(history) == 12 // 3 + 2 + 1
    assert [row for row in history if logged.NAMES & row.keys()] == []
    said = [line for line in outcome.stderr.decode().splitlines() if line.startswith("memtrace:")]
    not_of_the_simulator = [line for line in said if "docs/simulator.md" not in line]
    assert len(not_of_the_simulator) == 1 and "this process is not recorded" in not_of_the_simulator[0]


@logged.needs("lightning")
@pytest.mark.parametrize("every_s", [0, pytest.param(3600, marks=pytest.mark.slow)])
def test_a_lightning_trainer(tmp_path, every_s):
    outcome = logged.run("lightning_module", tmp_path / "logs", every_s, output=tmp_path / "traces")
    with next((tmp_path / "logs").rglob("metrics.csv")).open() as file:
        rows = [row for row in csv.DictReader(file) if row[logged.ALLOCATED]]
    steps = [int(row["step"]) for row in rows]
    assert sorted(set(steps)) == ([12] if every_s else list(range(13)))
    allocated, reserved = logged.said(outcome, "torch")
    assert float(rows[-1][logged.ALLOCATED]) == allocated
    assert float(rows[-1][logged.RESERVED]) == reserved

    report = logged.report_of(outcome, tmp_path)
    assert report["devices"][0]["peak_allocated_bytes"] == allocated
    assert logged.said(outcome, "updates") == 12
    assert report["steps"]["count"] == 12
    assert report["steps"]["boundary"] == "user"
    phases = logged.phases_of(report)
    assert {name: row["times"] for name, row in phases.items()} == {"train step": 24, "validation": 1}


@logged.needs("accelerate", "tensorboard")
def test_accelerate_logs_what_leaks(tmp_path):
    outcome = logged.run("accelerated", tmp_path / "run", output=tmp_path / "traces")
    series = logged.in_tensorboard(tmp_path / "run")
    allocated, reserved = logged.said(outcome, "torch")
    assert series[logged.ALLOCATED] == [(29, allocated)]
    assert series[logged.RESERVED] == [(29, reserved)]
    assert series[logged.GROWTH] == [(29, 1 << 20)]
    [(step, left)] = series[logged.STEPS_TO_OOM]
    capacity = logged.report_of(outcome, tmp_path)["devices"][0]["capacity_bytes"]
    assert step == 29
    assert 0.9 * (capacity - reserved) < left * (1 << 20) < capacity  # CUDA's context takes some


def test_nothing_of_a_framework_is_imported_by_memtrace():
    import subprocess

    program = "import sys, memtrace; print([name for name in sys.modules if 'integrations' in name or 'torch' in name])"
    printed = subprocess.run([runs.python(), "-c", program], capture_output=True, check=True, text=True,
                             env=runs.environment(logged.VARIABLES))
    assert printed.stdout == "[]\n"


@pytest.mark.parametrize(("used", "absent", "remedy"), [
    ("huggingface", "transformers", "pip install transformers"),
    ("lightning", "lightning,pytorch_lightning", "pip install lightning"),
    ("accelerate", "accelerate", "pip install accelerate"),
    ("jupyter", "IPython", "pip install IPython"),
    ("trackers:log_to_wandb", "wandb", "pip install wandb"),
    ("trackers:log_to_mlflow", "mlflow", "pip install mlflow"),
])
def test_what_is_not_installed_is_named(used, absent, remedy):
    printed = logged.run("guarded", used, absent, output=None).stdout.decode()
    assert printed.startswith("memtrace.integrations.")
    assert printed.endswith(f"which is not installed here: {remedy}\n")
