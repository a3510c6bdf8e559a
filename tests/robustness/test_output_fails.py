# SPDX-License-Identifier: Apache-2.0
"""Where a trace cannot be written, the program is none the worse, and one line says so."""

import os
import re
import resource
import subprocess

import pytest

import runs
from pairs import counted, events, script, without_our_lines

pytestmark = pytest.mark.usefixtures("built")


def run_with_output(folder, program=("normal",), **how) -> runs.Outcome:
    bare = runs.run(script(*program), None)
    traced = runs.run(runs.preloaded(script(*program)), None,
                      env={"MEMTRACE_OUTPUT": str(folder)}, **how)
    assert traced.stdout == bare.stdout
    traced.expect(bare.status)
    assert without_our_lines(traced.stderr) == without_our_lines(bare.stderr)
    traced.traces = runs.traces_in(folder)
    return traced


def our_lines(outcome) -> list[bytes]:
    return [line for line in outcome.stderr.splitlines() if line.startswith(b"memtrace")]


def test_output_directory_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    outcome = run_with_output(tmp_path / "file")
    assert len(our_lines(outcome)) == 1
    assert (tmp_path / "file").read_text() == ""


def test_output_directory_is_missing(tmp_path):
    outcome = run_with_output(tmp_path / "not" / "there")
    assert len(our_lines(outcome)) == 1
    assert outcome.traces or b"not" in our_lines(outcome)[0]


def test_output_directory_may_not_be_written(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):  # root writes anywhere but here
        folder = "/proc/self/fdinfo"
    outcome = run_with_output(runs.Path(folder))
    assert len(our_lines(outcome)) == 1
    assert outcome.traces == []


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


def test_a_limit_on_file_size(tmp_path):
    """RLIMIT_FSIZE: the kernel refuses the space, and SIGXFSZ must not end the program."""
    outcome = run_with_output(tmp_path, preexec_fn=limit_file_size)
    assert len(our_lines(outcome)) >= 1


@pytest.fixture
def small_disk(tmp_path):
    """A file system of the size it is asked for, in KiB."""
    mounted = []

    def mount(kibibytes: int):
        folder = tmp_path / f"disk{kibibytes}"
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", str(folder)],
            capture_output=True, text=True,
        )
        if done.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full_at_once(small_disk):
    disk = small_disk(64)
    outcome = run_with_output(disk)
    assert len(our_lines(outcome)) >= 1
    assert re.search(rb"(?i)space|full", b"\n".join(our_lines(outcome)))


def test_a_disk_that_fills_up_later(small_disk, tmp_path):
    """The trace keeps what fitted, and says how many events it lacks."""
    disk = small_disk(0x4000)
    with open(disk / "filler", "wb") as filler:
        filler.write(bytes(disk_left(disk) - (5 << 20)))
    outcome = run_with_output(disk, ("fills_a_trace",))
    assert len(our_lines(outcome)) >= 1
    if not outcome.traces:
        assert re.search(rb"(?i)space|full", b"\n".join(our_lines(outcome)))
        return
    lines = events(outcome.traces[0])
    report = runs.report(outcome.traces, tmp_path)
    dropped = report["completeness"]["dropped_events"]
    assert counted(lines, "alloc") > 0
    assert dropped > 0 or report["completeness"]["clean_exit"]


def disk_left(folder) -> int:
    facts = os.statvfs(folder)
    return facts.f_bavail * facts.f_frsize
