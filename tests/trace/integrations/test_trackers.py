# SPDX-License-Identifier: Apache-2.0
"""TensorBoard, Weights & Biases and MLflow have the numbers and the report, read back with their own readers."""

import json
import struct

import pytest

import logged

pytestmark = pytest.mark.usefixtures("built")


def tracked(tmp_path, tracker):
    """The numbers that the program logged, checked against PyTorch's and against what it keeps: 1 MiB a step."""
    outcome = logged.run("tracked", tmp_path / "run", tracker, output=tmp_path / "traces", cwd=tmp_path)
    numbers = logged.said(outcome, "logged")
    assert set(numbers) == logged.NAMES
    assert [numbers[logged.ALLOCATED], numbers[logged.RESERVED]] == logged.said(outcome, "torch")
    assert numbers[logged.GROWTH] == 1 << 20
    assert numbers[logged.STEPS_TO_OOM] > 1000
    return numbers


def check_report(text: str, content: dict, numbers: dict):
    assert "peak allocated" in text
    assert "tracked.py" in text
    assert content["schema"] == "memtrace-report/1"
    assert content["devices"][0]["peak_allocated_bytes"] == numbers[logged.ALLOCATED]


@logged.needs("tensorboard")
def test_tensorboard(tmp_path):
    numbers = tracked(tmp_path, "tensorboard")
    series = logged.in_tensorboard(tmp_path / "run")
    assert {name: [step for step, _ in values] for name, values in series.items()} == dict.fromkeys(numbers, [30])
    for name, value in numbers.items():
        assert series[name][0][1] == pytest.approx(value, rel=1e-6)  # TensorBoard keeps 32 bits
    folder = tmp_path / "run" / "memtrace"
    check_report((folder / "report.txt").read_text(), json.loads((folder / "report.json").read_text()), numbers)
    assert 'id="memtrace-columns"' in (folder / "report.html").read_text()

    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(tmp_path / "run"))
    read.Reload()
    [text] = read.Tensors("memtrace/report/text_summary")
    shown = text.tensor_proto.string_val[0].decode()
    assert shown == "".join(f"    {line}\n" for line in (folder / "report.txt").read_text().splitlines())


def wandb_records(file):
    """A run's file, which is a log as LevelDB writes it: blocks of chunks, each with a checksum, its length, and
    whether it is whole (1), a record's first part (2), a middle one (3) or the last (4)."""
    from wandb.proto import wandb_internal_pb2

    data, place, record = file.read_bytes(), 7, b""
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        length, kind = struct.unpack_from("<HB", data, place + 4)
        assert 1 <= kind <= 4
        record = (record if kind in (3, 4) else b"") + data[place + 7:place + 7 + length]
        place += 7 + length
        if kind in (1, 4):
            parsed = wandb_internal_pb2.Record()
            parsed.ParseFromString(record)
            yield parsed


@logged.needs("wandb")
def test_wandb_without_a_network(tmp_path):
    (tmp_path / "run").mkdir()
    numbers = tracked(tmp_path, "wandb")
    [file] = (tmp_path / "run").rglob("*.wandb")
    history, artifacts = [], []
    for record in wandb_records(file):
        if record.WhichOneof("record_type") == "history":
            history.append({item.key or "/".join(item.nested_key): json.loads(item.value_json)
                            for item in record.history.item})
        elif record.WhichOneof("record_type") == "artifact":
            artifacts.append(record.artifact)
    [row] = history
    assert {name: value for name, value in row.items() if name in logged.NAMES} == numbers
    [artifact] = artifacts
    assert artifact.type == "memtrace-report"
    assert {"report.txt", "report.json", "report.html"} <= {entry.path for entry in artifact.manifest.contents}


@pytest.mark.slow
@logged.needs("mlflow")
def test_mlflow(tmp_path, monkeypatch):
    numbers = tracked(tmp_path, "mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow

    client = mlflow.MlflowClient(tracking_uri=f"file://{tmp_path / 'run'}")
    [run] = client.search_runs(["0"])
    assert run.data.metrics == numbers
    assert [one.step for one in client.get_metric_history(run.info.run_id, logged.ALLOCATED)] == [30]
    listed = {one.path for one in client.list_artifacts(run.info.run_id, "memtrace")}
    assert {f"memtrace/report.{kind}" for kind in ("txt", "json", "html")} <= listed
    files = {name: client.download_artifacts(run.info.run_id, f"memtrace/report.{name}", str(tmp_path))
             for name in ("txt", "json")}
    with open(files["txt"]) as text, open(files["json"]) as content:
        check_report(text.read(), json.load(content), numbers)


@pytest.mark.slow
@logged.needs("mlflow")
def test_mlflow_without_a_run_begins_none(tmp_path):
    outcome = logged.run("tracked", tmp_path / "run", "mlflow without a run", output=tmp_path / "traces", cwd=tmp_path)
    assert logged.said(outcome, "logged") == {}
    assert outcome.stderr.decode().count("call mlflow.start_run() first") == 1
    assert not list((tmp_path / "run").rglob("metrics/*"))


@pytest.mark.slow
def test_a_tracker_that_fails_is_one_sentence(tmp_path):
    outcome = logged.run("tracked", tmp_path / "run", "a writer that fails", output=tmp_path / "traces")
    assert logged.said(outcome, "logged") == {}
    said = [line for line in outcome.stderr.decode().splitlines() if "TensorBoard" in line]
    assert said == ["memtrace: logging to TensorBoard failed, and the program goes on without it: no space left"]
