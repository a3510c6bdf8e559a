# SPDX-License-Identifier: Apache-2.0
"""memtrace.report(): of the running process, of a recording, and where there is none."""

import json
import subprocess
import sys
import types

import pytest

import interpreters
import memtrace
import runs

NOT_RECORDED = "memtrace: this process is not recorded"


def test_a_process_reads_its_own_report_while_it_runs(recorded):
    said, _, _ = recorded
    assert said["before_cuda"], "there was a report before there was a recording"
    assert said["early"]["told"] == said["early"]["counted"] > 0 and said["early"]["steps"] == 3
    assert said["late"]["told"] == said["late"]["counted"] > said["early"]["told"] and said["late"]["steps"] == 6
    assert said["generator_stays"]
    assert said["child"] == 0, "a forked child took its parent's report for its own"


def test_the_object_says_what_the_json_says(recorded, tmp_path):
    _, folder, _ = recorded
    report = memtrace.report(folder)
    trace, = runs.traces_in(folder)
    content = runs.report([trace], tmp_path)
    assert report.as_dict() == {**content, "processes": report.as_dict()["processes"]}
    compared = [0]

    def compare(made, value):
        if isinstance(value, dict) and not isinstance(made, dict):
            for name, one in value.items():
                compare(getattr(made, name), one)
        elif isinstance(value, list):
            assert len(made) == len(value)
            for left, right in zip(made, value):
                compare(left, right)
        elif isinstance(value, dict):
            assert made.keys() == value.keys()
            for name in value:
                compare(made[name], value[name])
        else:
            assert made == value
            compared[0] += 1

    compare(report, report.as_dict())
    assert compared[0] > 200
    assert "peak allocated" in str(report) and repr(report) == f"<memtrace.Report: {report.headline.text}>"


def test_the_model_is_made_from_the_schema():
    made = subprocess.run([sys.executable, runs.ROOT / "scripts" / "report_model"], capture_output=True, text=True,
                          check=True).stdout
    assert made == (runs.ROOT / "python" / "memtrace" / "_model.py").read_text()
    schema = json.loads((runs.ROOT / "analyzer" / "show" / "json" / "report.schema.json").read_text())
    module = types.ModuleType("model")
    sys.modules["model"] = module  # where dataclasses look up annotations
    exec(made, module.__dict__)
    assert set(module.Report.__annotations__) == set(schema["properties"])


def python(code: str, **env) -> subprocess.CompletedProcess:
    return subprocess.run([runs.python(), "-c", code], capture_output=True, text=True, check=True,
                          env=runs.environment({"PYTHONPATH": str(runs.ROOT / "python"), **env}))


def test_without_a_recording_it_is_said_once_that_there_is_none(built):
    done = python("import memtrace\nmemtrace.step()\nmemtrace.census()\nprint(memtrace.report())")
    assert done.stdout == "None\n"
    assert done.stderr.count("\n") == 1 and done.stderr.startswith(NOT_RECORDED) and "memtrace run --" in done.stderr
    assert python("import memtrace; memtrace.is_active()").stderr == ""
    assert python("import memtrace; memtrace.step()", MEMTRACE_DISABLE="1").stderr == ""
    assert python("import memtrace; memtrace.step()", MEMTRACE_LOG="quiet").stderr == ""


def test_bad_paths_get_one_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match="no-such is not there; name a trace"):
        memtrace.report(tmp_path / "no-such")
    (tmp_path / "text.mtrace").write_text("no trace at all")
    with pytest.raises(memtrace.ToolFailed, match="text.mtrace"):
        memtrace.report(tmp_path / "text.mtrace")


def test_without_the_command_the_remedy_is_named(tmp_path, monkeypatch, recorded):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(memtrace.ToolMissing, match="install memtrace's wheel"):
        memtrace.report(recorded[1])


@pytest.mark.parametrize("version", interpreters.CASES)
def test_every_python_reads_a_recording(recorded, version):
    found = interpreters.find(version)
    if found is None:
        pytest.skip(f"no Python {version} here")
    code = ("import memtrace, sys\nreport = memtrace.report(sys.argv[1])\nrecording = memtrace.read(sys.argv[1])\n"
            "print(sys.version_info[1], report.devices[0].peak_allocated_bytes, len(recording.blocks('rows')))")
    done = subprocess.run([found, "-c", code, str(recorded[1])], capture_output=True, text=True, check=False,
                          env=runs.environment({"PYTHONPATH": str(runs.ROOT / "python")}))
    assert done.stderr == ""
    assert done.stdout.split() == [version.partition(".")[2], str(recorded[0]["peak"]), str(recorded[0]["allocations"])]
