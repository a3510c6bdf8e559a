# SPDX-License-Identifier: Apache-2.0
"""Where a trace cannot be written, the program is none the worse, and one line says so."""

import os
import re
import resource
import struct
import subprocess

import pytest

import runs
from pairs import counted, events, script, without_our_lines

pytestmark = pytest.mark.usefixtures("built")


def run_with_output(folder, program=("normal",), env=None, **how) -> runs.Outcome:
    bare = runs.run(script(*program), None)
    traced = runs.run(runs.preloaded(script(*program)), None,
                      env={"MEMTRACE_OUTPUT": str(folder), **(env or {})}, **how)
    assert traced.stdout == bare.stdout
    traced.expect(bare.status)
    assert without_our_lines(traced.stderr) == without_our_lines(bare.stderr)
    traced.traces = runs.traces_in(folder)
    return traced


def our_lines(outcome) -> list[bytes]:
    """The recorder's own lines; the simulated GPU has a line of its own about what it cannot know."""
    return [line for line in outcome.stderr.splitlines()
            if line.startswith(b"memtrace") and b"simulated GPU" not in line]


def test_output_directory_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    outcome = run_with_output(tmp_path / "file")
    assert len(our_lines(outcome)) == 1
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.slow
def test_output_directory_is_missing(tmp_path):
    outcome = run_with_output(tmp_path / "not" / "there")
    assert len(our_lines(outcome)) == 1
    assert outcome.traces or b"not" in our_lines(outcome)[0]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_disk_that_is_full_at_once(small_disk):
    disk = small_disk(64)
    outcome = run_with_output(disk)
    assert len(our_lines(outcome)) >= 1
    assert re.search(rb"(?i)space|full", b"\n".join(our_lines(outcome)))


def slots_and_blocks(trace) -> tuple[int, int]:
    """Bytes of a trace before its first block, and from there on (memtrace/trace_format.h)."""
    with open(trace, "rb") as file:
        header_bytes, slot_bytes, slots = struct.unpack("<III", file.read(24)[12:])
    start = header_bytes + slot_bytes * slots
    return start, trace.stat().st_size - start


def test_a_disk_that_fills_up_later(small_disk, tmp_path):
    """The trace keeps what fitted, and counts every event that it lacks."""
    # Their number depends on time, and this one counts.
    same = {"MEMTRACE_SAMPLING": "0", "MEMTRACE_CENSUS": "0"}
    whole = runs.run(script("fills_a_trace"), tmp_path / "whole", env=same).expect(0)
    start, blocks = slots_and_blocks(whole.traces[0])
    assert blocks > 256 << 10, "the program does not fill a disk"

    outcome = run_with_output(small_disk((start + blocks // 4) >> 10), ("fills_a_trace",), env=same)
    assert outcome.stdout == whole.stdout
    assert re.search(rb"(?i)space|full", b"\n".join(our_lines(outcome)))
    assert len(outcome.traces) == 1
    complete, cut = (runs.report(one.traces, tmp_path)["completeness"] for one in (whole, outcome))
    assert complete["dropped_events"] == 0 and complete["clean_exit"] is True
    assert cut["dropped_events"] > 0
    assert cut["events"] + cut["dropped_events"] == complete["events"]
    lines = events(outcome.traces[0])
    assert counted(lines, "alloc") < int(whole.stdout) < complete["events"]
    assert counted(lines, "alloc") > 0


def test_standard_error_that_nobody_reads(tmp_path):
    """Our line at the end goes into a broken pipe, whose signal would end this program."""
    text = ("import signal, torch; signal.signal(signal.SIGPIPE, signal.SIG_DFL); "
            "torch.empty(4, device='cuda')")
    process = runs.start([runs.python(), "-c", text], tmp_path)
    process.stderr.close()
    assert process.wait(timeout=100) == 0
    process.stdout.close()
    (trace,) = runs.traces_in(tmp_path)
    assert counted(events(trace), "alloc") == 1
