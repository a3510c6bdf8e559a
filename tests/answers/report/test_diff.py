# SPDX-License-Identifier: Apache-2.0
"""memtrace diff: every document is what diff.schema.json says, what changed adds up, and bad input
gets one sentence."""

import json
import subprocess

import jsonschema
import pytest

import runs

SCHEMA = json.loads((runs.ROOT / "analyzer/show/diff/diff.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
NAMES = [
    "clean", "killed", "out_of_memory", "caught", "no_gpu_memory", "truncated", "reports_only", "named",
]
WITHOUT_DEVICE = ("no_gpu_memory", "truncated")  # the second lost its only block
MOST_LINES = 60


def diff(*arguments) -> subprocess.CompletedProcess:
    return runs.memtrace_says("diff", *arguments)


def document(*arguments) -> dict:
    return runs.document(VALIDATOR, "diff", *arguments)


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("after", NAMES)
def test_what_changed_adds_up(examples, after):
    compared = 0
    for before in NAMES:
        if before == after:
            continue
        made = document(examples / f"{before}.mtrace", examples / f"{after}.mtrace")
        for pair in made["devices"]:
            if pair["before"] is None or pair["after"] is None:
                continue
            compared += 1
            change = pair["after"]["peak_allocated_bytes"] - pair["before"]["peak_allocated_bytes"]
            for kind in ("categories", "modules"):
                assert sum(row["difference_bytes"] for row in pair[kind]) == change, (before, kind)
            for row in pair["lines"]:
                assert row["difference_bytes"] == row["after_bytes"] - row["before_bytes"] != 0
    assert compared == (0 if after in WITHOUT_DEVICE else len(NAMES) - len(WITHOUT_DEVICE) - 1)


def test_the_text_fits_and_has_no_escapes(examples):
    for before, after in [("named", "clean"), ("clean", "out_of_memory"), ("no_gpu_memory", "named")]:
        done = diff(examples / f"{before}.mtrace", examples / f"{after}.mtrace")
        assert done.returncode == 0
        assert 8 <= len(done.stdout.splitlines()) <= MOST_LINES
        assert "\x1b" not in done.stdout


def test_the_figures_are_those_of_the_reports(examples):
    made = document(examples / "named.mtrace", examples / "clean.mtrace")
    pair, = made["devices"]
    for side, name in (("before", "named"), ("after", "clean")):
        printed = subprocess.run(
            [runs.memtrace(), "report", examples / f"{name}.mtrace", "--json", "-"],
            capture_output=True, check=True, env=runs.environment(),
        ).stdout
        device, = json.loads(printed)["devices"]
        for key in ("peak_allocated_bytes", "peak_reserved_bytes", "capacity_bytes", "name"):
            assert pair[side][key] == device[key]
    training = {fact["name"]: fact for fact in made["configuration"] if fact["group"] == "training"}
    assert (training["optimizer"]["before"], training["optimizer"]["after"]) == ("AdamW", None)


def test_runs_of_several_traces(examples, tmp_path):
    (tmp_path / "later").mkdir()
    (tmp_path / "later/run.mtrace").write_bytes((examples / "named.mtrace").read_bytes())
    made = document("--before", examples / "clean.mtrace", examples / "killed.mtrace",
                    "--after", tmp_path / "later")
    assert len(made["before"]["traces"]) == 2 and len(made["after"]["traces"]) == 1
    assert [pair["after"] is None for pair in made["devices"]] == [False, True]
    assert made["not_comparable"][0] == "2 GPUs before, 1 after: figures are those of one GPU each."


def test_bad_input_gets_one_sentence(examples, tmp_path):
    clean, named = examples / "clean.mtrace", examples / "named.mtrace"
    text, link = tmp_path / "notes.mtrace", tmp_path / "link.mtrace"
    text.write_text("hello")
    link.symlink_to(clean)
    (tmp_path / "empty").mkdir()
    for arguments, status, words in [
        ((clean, tmp_path / "nothing.mtrace"), 1, "no such file"),
        ((tmp_path / "nothing.mtrace", clean), 1, "no such file"),
        ((clean, text), 1, "is not a memtrace trace"),
        ((clean, tmp_path / "empty"), 1, "no traces in this directory"),
        ((clean, clean), 1, "is in both runs"),
        ((clean, link), 1, "is in both runs"),
        ((clean,), 2, "name two runs"),
        ((clean, named, "--before", clean), 2, "name two runs"),
        (("--before", clean), 2, "name two runs"),
    ]:
        done = diff(*arguments)
        assert (done.returncode, done.stdout) == (status, ""), arguments
        assert words in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_damage_and_what_cannot_be_written_are_told(examples, tmp_path):
    clean = examples / "clean.mtrace"
    done = diff(examples / "damaged.mtrace", clean)
    assert done.returncode == 1 and "damaged.mtrace" in done.stderr and done.stdout
    done = diff(clean, examples / "named.mtrace", "--json", tmp_path / "no/such/folder.json")
    assert done.returncode == 1 and "cannot be written" in done.stderr
