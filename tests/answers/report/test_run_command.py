# SPDX-License-Identifier: Apache-2.0
"""memtrace run lets a program run as if memtrace were not there, whatever the program does."""

import shutil
import signal
import subprocess
import sys

import pytest

import runs


def start(*command, options=(), **how) -> subprocess.Popen:
    return subprocess.Popen(
        [runs.memtrace(), "run", *options, "--", *command], env=runs.environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how,
    )


def run(*command, options=(), text=None, **how) -> tuple[int, str, str]:
    process = start(*command, options=options, stdin=subprocess.PIPE, **how)
    out, errors = process.communicate(text, timeout=60)
    return process.returncode, out, errors


@pytest.mark.parametrize("status", [0, 1, 7, 255])
def test_the_exit_status_is_the_programs(built, tmp_path, status):
    assert run("sh", "-c", f"exit {status}", cwd=tmp_path)[0] == status


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_program_killed_by_a_signal_ends_memtrace_by_the_same(built, tmp_path, number):
    assert run("sh", "-c", f"kill -{number.value} $$", cwd=tmp_path)[0] == -number


def test_input_output_and_errors_pass_through(built, tmp_path):
    status, out, errors = run("sh", "-c", "cat; echo wrong >&2", text="a line\n", cwd=tmp_path)
    assert (status, out) == (0, "a line\n")
    assert "wrong" in errors.splitlines()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_signals_reach_the_program(built, tmp_path, number):
    program = (
        "import signal, sys, time\n"
        f"signal.signal({number.value}, lambda *_: (print('got it', flush=True), sys.exit(5)))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    process = start(sys.executable, "-c", program, cwd=tmp_path)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (5, "got it\n")


def test_arguments_arrive_untouched_after_the_first_dashes(built, tmp_path):
    arguments = ["--output", "x y", "--", "-h", ""]
    _, out, _ = run("printf", "<%s>", *arguments, cwd=tmp_path)
    assert out == "<--output><x y><--><-h><>"


def test_the_recorder_comes_first_and_what_was_preloaded_stays(built, tmp_path):
    environment = {**runs.environment(), "LD_PRELOAD": "libm.so.6"}
    done = subprocess.run(
        [runs.memtrace(), "run", "--output", tmp_path / "new" / "folder", "--", "printenv",
         "LD_PRELOAD", "MEMTRACE_OUTPUT"],
        env=environment, capture_output=True, text=True, check=False,
    )
    assert done.stdout.splitlines() == [
        f"{runs.library()}:libm.so.6", str(tmp_path / "new" / "folder"),
    ]


def test_a_program_that_is_not_there_and_one_that_cannot_run(built, tmp_path):
    status, _, errors = run("no-such-program", cwd=tmp_path)
    assert status == 127 and "no such program" in errors
    (tmp_path / "plain.txt").write_text("no program")
    status, _, errors = run(str(tmp_path / "plain.txt"), cwd=tmp_path)
    assert status == 126 and "cannot be started" in errors
    assert len(errors.splitlines()) == 1


def test_a_program_without_cuda_leaves_no_trace_and_is_told_so(built, tmp_path):
    _, _, errors = run("true", cwd=tmp_path)
    assert "no trace was written" in errors
    assert runs.traces_in(tmp_path) == []


def one_line(*arguments) -> tuple[int, str]:
    done = subprocess.run(
        [runs.memtrace(), *arguments], env=runs.environment(), capture_output=True, text=True,
        check=False,
    )
    assert len(done.stderr.splitlines()) == 1
    return done.returncode, done.stderr


def test_misuse_gets_one_sentence_with_the_remedy(built):
    assert one_line("run") == (
        2, "memtrace: put the program after --: memtrace run -- python train.py\n",
    )
    status, sentence = one_line("dry-run", "--gpu", "rtx309", "--", "true")
    assert status == 2 and "rtx3090" in sentence and "--gpu list" in sentence
    status, sentence = one_line("dry-run", "--memory", "much", "--", "true")
    assert status == 2 and "24GiB" in sentence
    status, sentence = one_line("dry-run", "--memory", "0GiB", "--", "true")
    assert status == 2 and "24GiB" in sentence
    status, sentence = one_line("dry-run", "train.py")
    assert status == 2 and "train.py" in sentence and "after --" in sentence
    assert one_line("repot")[0] == 2


def test_the_gpus_are_listed(built):
    done = subprocess.run(
        [runs.memtrace(), "dry-run", "--gpu", "list"], env=runs.environment(),
        capture_output=True, text=True, check=True,
    )
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert {"rtx3090", "a100-80", "h100-80", "t4"} <= set(names)


def test_a_library_that_the_program_cannot_load_does_not_end_it(built, tmp_path):
    """As on a system whose C library is too old: preloaded all the same, it would end every process."""
    folder = tmp_path / "memtrace"
    folder.mkdir()
    shutil.copy(runs.memtrace(), folder)
    source = tmp_path / "empty.c"
    source.write_text("")
    for library, needs in (("libgone.so", []), ("libmemtrace.so", ["-Wl,--no-as-needed", "-lgone"])):
        subprocess.run(["cc", "-shared", "-o", folder / library, source, f"-L{folder}", *needs], check=True)
    (folder / "libgone.so").unlink()
    script = tmp_path / "train"
    script.write_text(f"#!/usr/bin/env -S {sys.executable}\nprint('trained')\nraise SystemExit(3)\n")
    script.chmod(0o755)
    preloaded = subprocess.run([script], env={"LD_PRELOAD": str(folder / "libmemtrace.so")}, capture_output=True)
    assert preloaded.returncode == 127 and preloaded.stdout == b""
    for command in ([sys.executable, script], [script]):
        run = subprocess.run([folder / "memtrace", "run", "--output", tmp_path, "--", *command],
                             env=runs.environment(), capture_output=True, text=True)
        assert (run.returncode, run.stdout) == (3, "trained\n")
        assert len(run.stderr.splitlines()) == 1
        assert "not recorded" in run.stderr and "libgone.so" in run.stderr
