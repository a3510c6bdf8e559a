# SPDX-License-Identifier: Apache-2.0
"""memtrace attach: a process that runs already is recorded from outside, and left as it was; or one sentence says why
not."""

import re
import subprocess
import sys
import time

import pytest

import environments
import records
import runs

pytestmark = pytest.mark.usefixtures("built")
VERSIONS = [environments.Version("2.11.0", "3.14"), environments.Version(environments.NEWEST, "3.15")]


def attach(*arguments, cwd=None):
    return subprocess.run([runs.python(), "-m", "memtrace", "attach", *map(str, arguments)], capture_output=True, text=True,
                          cwd=cwd, check=False, timeout=120,
                          env=runs.environment({"PYTHONPATH": str(runs.ROOT / "python"), "MEMTRACE_BUILD": str(runs.build())}))


@pytest.fixture(params=VERSIONS, ids=lambda version: version.name)
def training(request, tmp_path):
    """A training that goes on: its process id, and what ends it and returns what it printed."""
    try:
        python = environments.installed(request.param)
    except environments.Unavailable as why:
        pytest.skip(str(why))
    enough = tmp_path / "enough"
    process = runs.start([python, records.PROGRAMS / "trains_on.py", enough], None)
    try:
        assert process.stdout.readline() == b"trains\n"
        # Its parent is the command that made the simulated GPU.
        children = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()

        def end():
            enough.touch()
            return runs.finish(process, None)
        yield int(children[0]) if children else process.pid, end
    finally:
        process.kill()


@pytest.mark.slow
def test_a_training_is_recorded_for_a_while(training, tmp_path):
    pid, end = training
    time.sleep(0.5)
    attached = attach(pid, "--output", tmp_path / "traces", "--seconds", 3)
    assert attached.returncode == 0, attached.stderr
    trace, = runs.traces_in(tmp_path / "traces")
    assert f"{trace} is whole; next: memtrace report {trace}" in attached.stderr
    time.sleep(0.5)
    done = end().expect(0)
    assert done.stdout == b"ended True []\n"
    report = runs.report([trace], tmp_path)
    assert report["completeness"]["clean_exit"] and report["completeness"]["allocated_before_bytes"] > 8 << 20
    assert report["completeness"]["total_mismatches"] == report["completeness"]["unknown_frees"] == 0
    assert report["steps"]["count"] > 50
    assert re.match(r"LEAKS · 1 MiB a step at trains_on.py:17 · kept by `kept`", report["headline"]["text"])


@pytest.mark.slow
def test_a_second_time_is_refused_and_the_training_goes_on(training, tmp_path):
    pid, end = training
    assert attach(pid, cwd=tmp_path).returncode == 0
    assert attach(pid, "--detach").returncode == 0
    for arguments, sentence in (((pid,), "is not recorded: RuntimeError: this process was recorded until memtrace.stop()"),
                                ((pid, "--detach"), "has no recording")):
        again = attach(*arguments, cwd=tmp_path)
        assert again.returncode == 1 and sentence in again.stderr
    end().expect(0)


def test_what_cannot_be_attached_to_is_one_sentence():
    sleeping = subprocess.Popen(["sleep", "60"])
    python = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        for pid, sentence in ((1 << 30, "there is no process 1073741824"),
                              (sleeping.pid, "which is no Python; start it with memtrace run")):
            refused = attach(pid)
            assert refused.returncode == 1 and refused.stdout == ""
            assert refused.stderr.startswith("memtrace: ") and refused.stderr.endswith(sentence + "\n")
        if sys.version_info < (3, 14):
            refused = attach(python.pid)
            assert refused.returncode == 1 and "call memtrace.start() in the program" in refused.stderr
            assert python.poll() is None
    finally:
        for process in (sleeping, python):
            process.kill()
            process.wait()
    for wrong in (("none",), (1, "--seconds", "-1"), (1, "--seconds", "nan"), (1, "--seconds", "1", "--detach")):
        assert attach(*wrong).returncode == 2
