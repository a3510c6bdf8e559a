# SPDX-License-Identifier: Apache-2.0
"""A program that collects the embeddings of all its images on the GPU, on a GPU that is too small for
them: what the report says of a run that is stopped before it fails, beside where it really fails;
of the same program that learns from each batch as it comes; and the two side by side."""

import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

import runs

FOLDER = runs.ROOT / "examples" / "anomaly_detection"
SMALL = "2GiB"
STOPPED_AT = 40  # of 125 batches
MIB = 1 << 20
# 32 images × 49 places × 16 layers × 128 channels × 4 bytes
BATCH_BYTES = 32 * 49 * 16 * 128 * 4


def command(*arguments: str) -> list:
    return [runs.python(), FOLDER / "detect.py", *arguments]


def line_of(file: str, marker: str, function: str | None = None) -> int:
    """The line that ends in this comment; in a function, where several do."""
    inside = None
    for number, text in enumerate((FOLDER / file).read_text().splitlines(), 1):
        if found := re.match(r"\s*def (\w+)", text):
            inside = found.group(1)
        if text.rstrip().endswith(f"# {marker}") and function in (None, inside):
            return number
    raise AssertionError(f"{file} has no line for {marker}")


def batches_in(stdout: bytes) -> int:
    return stdout.count(b"batch ")


def stopped(folder: Path, *arguments: str, memory: str = SMALL, env=None) -> runs.Outcome:
    """Ended by a signal when so many batches have begun."""
    process = runs.start(command(*arguments), folder, memory=memory, env=env)
    seen = b""
    for line in process.stdout:
        seen += line
        if line == f"batch {STOPPED_AT}\n".encode():
            process.terminate()
            break
    outcome = runs.finish(process, folder)
    assert seen.endswith(f"batch {STOPPED_AT}\n".encode()), outcome.stderr.decode()[-3000:]
    outcome.stdout = seen + outcome.stdout
    assert outcome.status == -15
    return outcome


def ran_out(folder: Path, *arguments: str, memory: str = SMALL, env=None) -> runs.Outcome:
    outcome = runs.run(command(*arguments), folder, memory=memory, env=env)
    assert b"OutOfMemoryError" in outcome.stderr
    return outcome


def verdict_of(report: dict, subject: str = "device:0") -> dict:
    found, = [one for one in report["verdicts"] if one["subject"] == subject]
    return found


def innermost_user_frame(culprit: dict) -> dict:
    return next(frame for frame in culprit["frames"] if frame["user"])


@pytest.fixture(scope="module")
def collected(built, tmp_path_factory) -> tuple[runs.Outcome, dict]:
    folder = tmp_path_factory.mktemp("stopped")
    outcome = stopped(folder, "--mode", "collect", "--phases", "train")
    return outcome, runs.report(outcome.traces, folder)


@pytest.fixture(scope="module")
def streamed(built, tmp_path_factory) -> tuple[runs.Outcome, dict]:
    folder = tmp_path_factory.mktemp("streamed")
    outcome = runs.run(command("--mode", "stream", "--phases", "train", "--images", "1920"), folder,
                       memory=SMALL).expect(0)
    return outcome, runs.report(outcome.traces, folder)


def check_accumulates(report: dict, kept_by: str, function: str) -> None:
    assert report["oom"] == [] and not report["completeness"]["clean_exit"]
    verdict = verdict_of(report)
    assert verdict["shape"] == "accumulating"
    assert verdict["bytes_per_step"] == pytest.approx(BATCH_BYTES, rel=0.02)
    culprit = verdict["culprits"][0]
    frame = innermost_user_frame(culprit)
    assert (Path(frame["file"]).name, frame["line"]) == ("extractor.py", line_of("extractor.py", "allocates"))
    keeper = culprit["retained_by"][0]
    assert keeper["path"].startswith(kept_by) and keeper["container"] == "list"
    assert keeper["owner"] == f"local of {function}"
    assert Path(keeper["file"]).name == "detect.py"
    assert culprit["fix"]["saves_bytes_per_step"] == pytest.approx(BATCH_BYTES, rel=0.02)
    assert "empty_cache" in culprit["fix"]["caution"]


def check_prediction(report: dict, really: runs.Outcome) -> None:
    """Within a tenth of the batch in which the program, left alone, runs out of memory."""
    steps_done = report["steps"]["count"]
    assert abs(steps_done - STOPPED_AT) <= 3, "a step is a batch"
    predicted = steps_done + verdict_of(report)["steps_to_oom"]
    failed_in = batches_in(really.stdout) - 1
    assert predicted == pytest.approx(failed_in, rel=0.1)


def test_accumulation_is_found_before_it_fails(collected):
    check_accumulates(collected[1], "train_embeddings", "collect_train")


def test_steps_to_out_of_memory_are_those_that_are_left(collected, tmp_path):
    check_prediction(collected[1], ran_out(tmp_path, "--mode", "collect", "--phases", "train"))
    by_size = sorted(verdict_of(collected[1])["elsewhere"], key=lambda one: one["capacity_bytes"])
    steps = [one["steps_to_oom"] for one in by_size]
    assert steps == sorted(steps) and steps[0] > verdict_of(collected[1])["steps_to_oom"]


def test_streaming_is_steady_and_its_empty_cache_has_a_price(streamed):
    report = streamed[1]
    assert verdict_of(report)["shape"] == "steady"
    assert not [one for one in report["verdicts"] if "accumul" in one["shape"]]
    habit, = [one for one in report["advice"] if one["id"] == "remove_empty_cache"]
    assert habit["proof"] == "measured"
    assert "60 calls in 60 steps" in habit["evidence"]
    assert "train_streaming" in habit["title"]


def test_side_by_side(collected, streamed, tmp_path):
    target = tmp_path / "diff.json"
    printed = subprocess.run(
        [runs.memtrace(), "diff", collected[0].traces[0], streamed[0].traces[0], "--json", target],
        check=True, capture_output=True, text=True, env=runs.environment(),
    ).stdout
    made = json.loads(target.read_text())
    schema = json.loads((runs.ROOT / "analyzer/show/diff/diff.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(made)
    pair, = made["devices"]
    verdicts, = pair["verdicts"]
    assert (verdicts["before"]["shape"], verdicts["after"]["shape"]) == ("accumulating", "steady")
    before, after = (pair[side]["series"]["left_bytes"] for side in ("before", "after"))
    assert before[-1] - before[0] > 30 * BATCH_BYTES
    # The first step leaves what later ones find: the optimizer's states, a workspace.
    assert max(after[1:]) == min(after[1:])
    line = f"extractor.py:{line_of('extractor.py', 'allocates')} stack_trajectory"
    assert pair["growing"][0]["name"] == line and "train_embeddings" in pair["growing"][0]["kept_by"]
    assert pair["growing"][0]["after_bytes_per_step"] == 0
    changed = {fact["name"]: (fact["before"], fact["after"]) for fact in made["configuration"]}
    assert changed["--mode"] == ("collect", "stream")
    assert [habit["id"] for habit in made["after"]["habits"]] == ["empty_cache_often"]
    assert made["before"]["habits"] == []
    assert "█" in printed and "accumulating" in printed and "steady" in printed


@pytest.mark.slow
@pytest.mark.parametrize("gpu", ["rtx3080", "t4"])
def test_steps_to_out_of_memory_on_another_gpu(collected, gpu):
    report = collected[1]
    predicted, = [one["steps_to_oom"] for one in verdict_of(report)["elsewhere"] if one["gpu"] == gpu]
    really = runs.run(command("--mode", "collect", "--phases", "train", "--images", "40000"), None,
                      gpu=gpu)
    assert b"OutOfMemoryError" in really.stderr
    failed_in = batches_in(really.stdout) - 1
    assert report["steps"]["count"] + predicted == pytest.approx(failed_in, rel=0.1)


@pytest.mark.slow
def test_adaptation_accumulates_too(built, tmp_path):
    outcome = stopped(tmp_path / "stopped", "--mode", "collect", "--phases", "adapt")
    report = runs.report(outcome.traces, tmp_path)
    check_accumulates(report, "domain_embeddings", "collect_domain")
    check_prediction(report, ran_out(tmp_path / "whole", "--mode", "collect", "--phases", "adapt"))


@pytest.mark.slow
def test_streaming_adaptation_is_steady(built, tmp_path):
    outcome = runs.run(command("--mode", "stream", "--phases", "adapt", "--images", "1920"), tmp_path,
                       memory=SMALL).expect(0)
    assert verdict_of(runs.report(outcome.traces, tmp_path))["shape"] == "steady"


@pytest.mark.slow
def test_prediction_with_segments_that_expand(built, tmp_path):
    """Without the fragments of fixed segments the program lasts longer, and the report knows."""
    setting = {"memory": "1536MiB", "env": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}}
    arguments = ("--mode", "collect", "--phases", "train")
    outcome = stopped(tmp_path / "stopped", *arguments, **setting)
    report = runs.report(outcome.traces, tmp_path)
    # The context, though the first segment was made before there was one.
    assert sum(one["bytes"] for one in report["devices"][0]["outside_pool"]) > 64 * MIB
    check_prediction(report, ran_out(tmp_path / "whole", *arguments, **setting))
