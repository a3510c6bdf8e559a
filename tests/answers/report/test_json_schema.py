# SPDX-License-Identifier: Apache-2.0
"""Every report is what report.schema.json says, and the sums in it are the trace's."""

import json
import os
import signal
import subprocess
from pathlib import Path

import jsonschema
import pytest

import runs

SCHEMA = json.loads((runs.ROOT / "analyzer/show/json/report.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EXAMPLES = [
    "clean", "killed", "out_of_memory", "caught", "no_gpu_memory", "truncated", "damaged",
    "reports_only", "named", "sources",
]
MIB = 1 << 20


def report(*arguments) -> tuple[dict, subprocess.CompletedProcess]:
    done = runs.memtrace_says("report", *arguments, "--json", "-")
    return json.loads(done.stdout), done


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_refuses_what_is_not_in_it(examples):
    document, _ = report(examples / "clean.mtrace")
    document["devices"][0]["peak"] = 1
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_report_is_as_the_schema_says(examples, name):
    document, _ = report(examples / f"{name}.mtrace")
    VALIDATOR.validate(document)


def test_every_example_is_covered(examples):
    assert {path.stem for path in examples.glob("*.mtrace")} == set(EXAMPLES)


def test_several_traces_are_one_run(examples):
    document, done = report(examples)
    VALIDATOR.validate(document)
    assert len(document["processes"]) == len(EXAMPLES)
    events = [process["completeness"]["events"] for process in document["processes"]]
    assert document["completeness"]["events"] == sum(events)
    assert done.returncode == 1  # one of them is damaged


def test_the_peak_and_who_holds_it(examples):
    document, _ = report(examples / "clean.mtrace")
    device, = document["devices"]
    assert device["capacity_bytes"] == 24259 * MIB
    assert device["peak_allocated_bytes"] == 30 * MIB
    assert device["peak_reserved_bytes"] == 64 * MIB
    sites = device["at_peak"]["call_sites"]
    assert [site["bytes"] for site in sites] == [20 * MIB, 10 * MIB]
    assert sites[0]["frames"][0]["function"] == "Linear.forward"
    assert sites[0]["frames"][-1] == {
        "file": "/srv/ada/train.py", "line": 88, "function": "main", "user": True,
    }
    assert not sites[0]["frames"][0]["user"]
    assert document["completeness"]["total_mismatches"] == 0


def test_an_out_of_memory_error(examples):
    document, _ = report(examples / "out_of_memory.mtrace")
    oom, = document["oom"]
    assert oom["requested_bytes"] == 23 << 30
    assert oom["free_bytes"] == 200 * MIB
    assert oom["allocated_bytes"] == 28 * MIB
    assert oom["reserved_bytes"] == 64 * MIB
    assert oom["largest_free_block_bytes"] == 36 * MIB
    assert not oom["caught"]
    assert sum(site["bytes"] for site in oom["holders"]) == 28 * MIB
    document, _ = report(examples / "caught.mtrace")
    assert document["oom"][0]["caught"]


def test_damage_is_an_error_and_a_kill_is_not(examples):
    document, done = report(examples / "killed.mtrace")
    assert done.returncode == 0
    assert not document["completeness"]["clean_exit"]
    document, done = report(examples / "truncated.mtrace")
    assert done.returncode == 0
    assert document["completeness"]["truncated"]
    document, done = report(examples / "damaged.mtrace")
    assert done.returncode == 1
    assert document["completeness"]["damage"]["code"] == "corrupt_block"
    assert str(document["completeness"]["damage"]["offset"]) in done.stderr


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_terminal_report_has_36_lines_and_no_escapes(examples, name):
    done = subprocess.run(
        [runs.memtrace(), "report", examples / f"{name}.mtrace"],
        capture_output=True, text=True, env=runs.environment(), check=False,
    )
    assert 3 <= len(done.stdout.splitlines()) <= 36
    assert "\x1b" not in done.stdout


BAD_INPUT = {
    "nothing.mtrace": (None, "no such file"),
    "empty.mtrace": (b"", "is empty"),
    "text.mtrace": (b"hello", "is not a memtrace trace"),
    "cut.mtrace": (b"MEMTRACE\x01\0\0\0", "is cut off after 12 bytes"),
    "later.mtrace": (b"MEMTRACE\x02\0\0\0" + bytes(5000), "format version 2"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
@pytest.mark.parametrize("command", ["report", "dump"])
def test_bad_input_gets_one_sentence(built, tmp_path, command, name):
    content, words = BAD_INPUT[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = subprocess.run(
        [runs.memtrace(), command, tmp_path / name],
        capture_output=True, text=True, env=runs.environment(), check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert words in done.stderr and name in done.stderr
    assert len(done.stderr.splitlines()) == 1


def refused(path: Path) -> str:
    done = subprocess.run(
        [runs.memtrace(), "report", path],
        capture_output=True, text=True, env=runs.environment(), check=False,
    )
    assert done.returncode == 1
    return done.stderr


def test_a_directory_without_traces(built, tmp_path):
    assert "no traces in this directory" in refused(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_trace_that_may_not_be_read(built, tmp_path):
    (tmp_path / "private.mtrace").write_bytes(b"MEMTRACE")
    (tmp_path / "private.mtrace").chmod(0)
    assert "permission denied" in refused(tmp_path / "private.mtrace")


def test_a_trace_cut_off_before_its_first_event_says_nothing_about_the_program(examples, tmp_path):
    header = 4096
    (tmp_path / "cut.mtrace").write_bytes((examples / "clean.mtrace").read_bytes()[:header + 40])
    document, done = report(tmp_path / "cut.mtrace")
    assert document["completeness"]["truncated"] and document["completeness"]["events"] == 0
    text = subprocess.run(
        [runs.memtrace(), "report", tmp_path / "cut.mtrace"],
        capture_output=True, text=True, env=runs.environment(), check=False,
    ).stdout
    assert "no event is in the readable part" in text
    assert "no GPU memory was allocated" not in text


# A program of the shell is ended by the signal, one that Python starts with its own may have to go on.
@pytest.mark.parametrize(("restore_signals", "status"), [(True, -signal.SIGPIPE), (False, 1)])
def test_a_reader_that_stops_early_is_no_error_message(built, tmp_path, restore_signals, status):
    """A dump of more lines than a pipe holds, so that the end of the reader is met."""
    subprocess.run([built / "tests/example_traces", tmp_path, "20000"], check=True)
    (trace,) = tmp_path.glob("*.mtrace")
    with subprocess.Popen(
        [runs.memtrace(), "dump", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=runs.environment(), restore_signals=restore_signals,
    ) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == status
