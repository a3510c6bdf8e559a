# SPDX-License-Identifier: Apache-2.0
"""memtrace's numbers and its report in TensorBoard, Weights & Biases and MLflow.

Each function reads the recording, which takes longer the longer it is: call it at the end of a
training, or every minute at most. It returns the numbers that it logged; none where memtrace does
not record. With `report=False` it logs the numbers alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import memtrace
from memtrace.integrations import _artifact
from memtrace.integrations._quiet import missing, quietly, say_once
from memtrace.integrations.scalars import scalars

FOLDER = "memtrace"


def _now():
    """The report and its numbers; None and nothing where memtrace does not record."""
    made = memtrace.report() if memtrace.is_active() else None
    return made, (scalars(made) if made is not None else {})


@quietly("logging to TensorBoard", dict)
def log_to_tensorboard(writer, step: int | None = None, report: bool = True) -> dict:
    """Scalars and the report as a text of `writer` (torch's SummaryWriter, tensorboardX's), and the report's files
    in the folder `memtrace` of its log directory."""
    made, found = _now()
    for name, value in found.items():
        writer.add_scalar(name, value, global_step=step)
    if made is not None and report:
        folder = Path(getattr(writer, "log_dir", None) or writer.logdir) / FOLDER
        text = _artifact.write(made, folder)[0].read_text(encoding="utf-8")
        indented = "".join(f"    {line}\n" for line in text.splitlines())  # Markdown's way to say: as it is
        writer.add_text("memtrace/report", indented, global_step=step)
    writer.flush()
    return found


def log_to_wandb(run=None, step: int | None = None, report: bool = True) -> dict:
    """Numbers of `run` (or of the one that is active), and the report as an artifact of type memtrace-report."""
    try:
        import wandb
    except ImportError as error:
        raise missing("memtrace.integrations.trackers.log_to_wandb", "wandb") from error
    return _to_wandb(wandb, run, step, report)


@quietly("logging to Weights & Biases", dict)
def _to_wandb(wandb, run, step, report) -> dict:
    run = run or wandb.run
    if run is None:
        say_once("nothing was logged to Weights & Biases: no run is active; call wandb.init() first, or give a run")
        return {}
    made, found = _now()
    if found:
        run.log(found, step=step)
    if made is not None and report:
        artifact = wandb.Artifact(f"memtrace-{run.id}", type="memtrace-report")
        with tempfile.TemporaryDirectory(prefix="memtrace-") as folder:
            for path in _artifact.write(made, folder):
                artifact.add_file(str(path), name=path.name, policy="mutable")
            run.log_artifact(artifact)
    return found


def log_to_mlflow(step: int | None = None, report: bool = True) -> dict:
    """Metrics of MLflow's active run, and the report's files in its artifacts, in the folder memtrace."""
    try:
        import mlflow
    except ImportError as error:
        raise missing("memtrace.integrations.trackers.log_to_mlflow", "mlflow") from error
    return _to_mlflow(mlflow, step, report)


@quietly("logging to MLflow", dict)
def _to_mlflow(mlflow, step, report) -> dict:
    if mlflow.active_run() is None:  # logging would begin one
        say_once("nothing was logged to MLflow: no run is active; call mlflow.start_run() first")
        return {}
    made, found = _now()
    if found:
        mlflow.log_metrics(found, step=step)
    if made is not None and report:
        with tempfile.TemporaryDirectory(prefix="memtrace-") as folder:
            _artifact.write(made, folder)
            mlflow.log_artifacts(folder, FOLDER)
    return found
