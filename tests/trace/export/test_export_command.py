# SPDX-License-Identifier: Apache-2.0
"""The command: where it writes, and what it says where it cannot."""

import os
import resource
import signal
import stat

import pytest

import runs
from exporting import export

pytestmark = pytest.mark.skipif(runs.on_real_gpu(), reason="the traces are of the simulated GPU")


def test_without_a_name_the_file_is_named_after_the_trace(recorded, tmp_path):
    trace = recorded.traces[0]
    done = export(trace, "--format", "speedscope", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made, = tmp_path.iterdir()
    assert made.name == f"memtrace-speedscope-{trace.stem}.speedscope.json"
    assert f"wrote {made.name}" in done.stderr and "open it with" in done.stderr
    assert export(recorded.folder, "--format", "pprof", cwd=tmp_path).returncode == 0
    assert (tmp_path / f"memtrace-pprof-{recorded.folder.name}.pb.gz").exists()


def test_what_is_there_is_replaced_only_with_force(recorded, tmp_path):
    target = tmp_path / "out"
    target.write_text("mine")
    done = export(recorded.traces[0], "--format", "pprof", "-o", target)
    assert done.returncode == 1
    assert "is there already" in done.stderr and "--force" in done.stderr
    assert target.read_text() == "mine"
    assert export(recorded.traces[0], "--format", "pprof", "-o", target, "--force").returncode == 0
    assert target.read_bytes()[:2] == b"\x1f\x8b"  # gzip


@pytest.mark.parametrize("arguments, sentence", [
    (["--format", "excel"], "--format excel: choose one of perfetto, pprof, speedscope"),
    (["--format", "pprof", "--at", "noon"], "--at noon: write event:1234, step:7 or step:7/backward"),
    (["--format", "pprof", "--from", "step:1/backward"], "--from step:1/backward: write event:1234 or step:7"),
    (["--format", "pprof", "-o", "-"], "give it a name"),
])
def test_what_is_not_understood_is_said(recorded, tmp_path, arguments, sentence):
    done = export(recorded.traces[0], *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments, sentence", [
    (["--at", "step:77"], "--at step:77: the run has the steps 0 to 4"),
    (["--from", "step:77"], "--from step:77: the run has the steps 0 to 4"),
    (["--from", "event:100", "--to", "event:50"], "--from is behind --to"),
    (["--rank", "9"], "--rank 9: none of these traces"),
])
def test_a_moment_or_rank_that_is_not_there_is_said(recorded, tmp_path, arguments, sentence):
    done = export(recorded.traces[0], "--format", "pprof", *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert not list(tmp_path.iterdir())


def test_no_trace_leaves_no_file(tmp_path):
    text = tmp_path / "text.mtrace"
    text.write_text("this is no trace, only some text that is long enough to be one" * 100)
    done = export(text, "--format", "pprof", cwd=tmp_path)
    assert done.returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["text.mtrace"]


def test_a_folder_that_nobody_may_write_to_is_said_before_the_work(recorded, tmp_path):
    target = tmp_path / "nowhere" / "out"
    done = export(recorded.traces[0], "--format", "pprof", "-o", target)
    assert done.returncode == 1
    assert done.stderr.strip() == f"memtrace: {target}: cannot be written: No such file or directory"


@pytest.mark.parametrize("kind", ["perfetto", "pprof", "speedscope"])
def test_a_full_disk_is_said_and_nothing_is_left(recorded, tmp_path, kind):
    def no_more_than_a_kilobyte():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    target = tmp_path / "out"
    done = export(recorded.traces[0], "--format", kind, "-o", target, preexec_fn=no_more_than_a_kilobyte)
    assert done.returncode == 1
    assert done.stderr.strip() == f"memtrace: {target}: cannot be written: File too large"
    assert not list(tmp_path.iterdir())


def test_the_file_is_the_users_own_as_any_other(recorded, tmp_path):
    os.umask(os.umask(0o022))
    target = tmp_path / "out"
    assert export(recorded.traces[0], "--format", "pprof", "-o", target).returncode == 0
    other = tmp_path / "other"
    other.touch()
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_one_rank_can_be_named(recorded, tmp_path):
    done = export(recorded.folder, "--format", "speedscope", "--rank", 1, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out").read_text()
    assert "rank 1 (" in text and "rank 0 (" not in text


def test_a_scrubbed_export_names_no_folder_of_the_user(recorded, tmp_path):
    plain, hidden = tmp_path / "plain", tmp_path / "hidden"
    assert export(recorded.traces[0], "--format", "speedscope", "-o", plain).returncode == 0
    assert export(recorded.traces[0], "--format", "speedscope", "-o", hidden, "--scrub").returncode == 0
    folder = str(runs.ROOT)
    assert folder in plain.read_text()
    assert folder not in hidden.read_text()
    assert "small_training.py" in hidden.read_text()


def test_a_trace_that_is_cut_off_is_exported_as_far_as_it_goes(recorded, tmp_path):
    cut = tmp_path / "cut.mtrace"
    whole = recorded.traces[0].read_bytes()
    cut.write_bytes(whole[:-2000])
    done = export(cut, "--format", "pprof", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "the trace is cut off" in done.stderr
    assert (tmp_path / "out").exists()
