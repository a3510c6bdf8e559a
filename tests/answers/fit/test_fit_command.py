# SPDX-License-Identifier: Apache-2.0
"""memtrace fit: what it says of a program is what dry runs of that program do, without it."""

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

import recordings
import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"
PROGRAM = PROGRAMS / "perceptron.py"
SCHEMA = json.loads((runs.ROOT / "analyzer" / "plan" / "fit" / "fit.schema.json").read_text())
GPUS = {"rtx3060:2GiB": ("rtx3060", "2GiB"), "rtx3090:3GiB": ("rtx3090", "3GiB")}  # of one generation: kernels are the same
pytestmark = pytest.mark.skipif(runs.on_real_gpu(), reason="it simulates GPUs of several sizes")


def fit(folder: Path, *options, program=(), script=PROGRAM) -> subprocess.CompletedProcess:
    line = [runs.memtrace(), "fit", "--cache", folder / "cache", "--json", folder / "fit.json", *options, "--",
            runs.python(), script, *program]
    return subprocess.run([str(part) for part in line], check=False, capture_output=True, text=True, cwd=folder,
                          env=runs.environment(), timeout=300)


def fitted(folder: Path) -> dict:
    document = json.loads((folder / "fit.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


@pytest.fixture(scope="module")
def found(built, tmp_path_factory):
    """A folder with a fit that is done, its JSON and what it printed."""
    folder = tmp_path_factory.mktemp("fit")
    done = fit(folder, "--gpu", ",".join(GPUS), "--batch", "--batch-size {}", "--html", folder / "fit.html")
    assert done.returncode == 0, done.stderr
    return folder, fitted(folder), done


@pytest.mark.parametrize("label", GPUS)
def test_both_sides_of_the_boundary_do_what_is_said(found, label, tmp_path):
    row, = [each for each in found[1]["rows"] if each["gpu"] == label]
    model, memory = GPUS[label]
    assert row["verified"] and row["refused_batch"] == row["largest_batch"] + 1
    machine = {"gpu": model, "memory": memory}
    fits = recordings.run([runs.python(), PROGRAM, "--batch-size", row["largest_batch"]], None, **machine)
    fits.expect(0)
    reserved, outside = json.loads(fits.stdout)
    assert row["peak_reserved_bytes"] == reserved
    assert row["used_bytes"] == reserved + outside
    refused = recordings.run([runs.python(), PROGRAM, "--batch-size", row["refused_batch"]], None, **machine)
    refused.expect(1)
    assert b"OutOfMemoryError" in refused.stderr


def test_a_gpu_takes_few_dry_runs(found):
    # Halving a bracket of thousands would take more than ten. How often two are enough for a further GPU is in RESULTS.md.
    first, further = found[1]["rows"]
    assert first["largest_batch"] > 1000
    assert first["runs"] <= 6
    assert further["runs"] <= 6
    assert found[1]["dry_runs"] <= first["runs"] + further["runs"] + 2  # begun beside those that were needed


def test_what_binds_is_a_line_of_the_program(found):
    for row in found[1]["rows"]:
        assert "perceptron.py" in row["binding"]["place"] or "backward" in row["binding"]["place"]
        assert row["margin_batch"] < row["largest_batch"]
        assert row["law"]["kind"] == "requests"
        assert row["caution"] is None  # its twelve steps had settled


def test_the_table_and_the_page_tell_the_same(found):
    folder, document, done = found
    page = (folder / "fit.html").read_text()
    for row in document["rows"]:
        assert f"{row['gpu']}: batch {row['largest_batch']} fits" in done.stdout
        assert f"<b>{row['largest_batch']}</b>" in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_schema_refuses_what_is_not_in_it(found):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for changed in ({"largest_batch": -1}, {"batch": 1}, {"law": {"kind": "cubic"}}):
        document = json.loads((found[0] / "fit.json").read_text())
        document["rows"][0] |= changed
        assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(document)


def test_the_same_command_goes_on_where_it_was(found):
    folder, before, _ = found
    again = fit(folder, "--gpu", ",".join(GPUS), "--batch", "--batch-size {}")
    assert again.returncode == 0, again.stderr
    after = fitted(folder)
    assert after["dry_runs"] == 0
    keys = ("largest_batch", "refused_batch", "peak_reserved_bytes", "used_bytes", "verified")
    assert [[row[key] for key in keys] for row in after["rows"]] == [[row[key] for key in keys] for row in before["rows"]]


def test_a_program_that_takes_no_notice_of_the_batch(built, tmp_path):
    done = fit(tmp_path, "--gpu", "t4", "--batch", "--batch-size {}", program=["--deaf"])
    assert done.returncode == 1
    assert "the same memory at batch" in done.stderr
    assert not fitted(tmp_path)["rows"][0]["verified"]


def test_a_program_that_fails_for_another_reason_shows_its_last_lines(built, tmp_path):
    done = fit(tmp_path, "--gpu", "t4", "--batch", "--batch-size {}", "--jobs", "1", program=["--broken"])
    assert done.returncode == 1
    assert "not for want of GPU memory" in done.stderr
    assert "ValueError: the data are not there" in done.stderr


def test_a_program_that_stops_for_its_loss_is_told_that_it_is_zero(built, tmp_path):
    done = fit(tmp_path, "--gpu", "t4", "--batch", "--batch-size {}", "--max-batch", "8", "--no-advice", script=PROGRAMS / "zeros_reader.py",
               program=["--stop"])
    assert done.returncode == 0, done.stderr
    row, = fitted(tmp_path)["rows"]
    assert row["all_fit"] and row["fitted"]["steps"] == 1 and row["fitted"]["rose_in_last_step"]
    assert "made one step" in row["caution"] and f"read {row['fitted']['reads_of_zeros']} value" in row["caution"]
    assert "zeros here" in " ".join(done.stdout.split())


def test_a_program_that_refuses_a_loss_of_zero_is_told_why(built, tmp_path):
    done = fit(tmp_path, "--gpu", "t4", "--batch", "--batch-size {}", "--jobs", "1", script=PROGRAMS / "zeros_reader.py", program=["--check"])
    assert done.returncode == 1
    assert "it had read 1 value that a GPU would have computed" in done.stderr
    assert "ArithmeticError: the loss is not positive" in done.stderr
    assert fitted(tmp_path)["rows"][0]["why_not_verified"]


@pytest.mark.parametrize("options, sentence", [
    (["--gpu", "rtx309", "--batch", "--batch-size {}"], "rtx3090"),
    (["--gpu", "t4", "--batch", "--batch-size"], "has no {}"),
    (["--gpu", "t4", "--batch", "--batch-size {}", "--sequence", "--length {}"], "go together"),
    (["--gpu", "t4", "--batch", "--batch-size {}", "--vary", "speed"], "NAME=FLAGS"),
    (["--gpu", "t4", "--batch", "--batch-size {}", "--budget", "soon"], "10m"),
])
def test_bad_options_are_told_before_anything_runs(built, tmp_path, options, sentence):
    done = fit(tmp_path, *options)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "fit.json").exists()
