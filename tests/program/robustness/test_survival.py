# SPDX-License-Identifier: Apache-2.0
"""With and without memtrace: the same output, byte for byte, and the same exit status."""

import os
import signal
from pathlib import Path

import pytest

import cases
import runs
from pairs import agrees, counted, events, run_both, said, script

pytestmark = pytest.mark.usefixtures("built")


def one_trace(pair):
    assert len(pair.traced.traces) == 1
    return events(pair.traced.traces[0])


# One of each kind: the others, which end in about the same way, are slow tests.
IN_CI = {("normal",), ("uncaught_exception",), ("fork_in_the_middle",), ("signals_itself", "handled"),
         ("data_loader_workers", "fork")}


@pytest.mark.parametrize(("program", "status"), [
    pytest.param(program, status, id=" ".join(program), marks=() if program in IN_CI else pytest.mark.slow)
    for program, status in cases.DOES_THE_SAME])
def test_program_does_the_same(program, status, tmp_path):
    pair = run_both(script(*program), tmp_path)
    assert pair.bare.status == status
    assert pair.bare.stdout
    agrees(one_trace(pair), pair.bare.stdout)


# A signal that cannot be caught, and a fault; the others end a process as these do.
@pytest.mark.parametrize("name", [
    name if name in ("SIGKILL", "SIGSEGV") else pytest.param(name, marks=pytest.mark.slow)
    for name in cases.ENDED_BY])
def test_program_that_a_signal_ends(name, tmp_path):
    pair = run_both(script("signals_itself", "default", name), tmp_path)
    number = getattr(signal, name)
    assert pair.bare.status in (-number, 128 + number)
    agrees(one_trace(pair), pair.bare.stdout)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("argument", ["caught", "uncaught"])
def test_out_of_memory(argument, tmp_path):
    memory = {} if runs.on_real_gpu() else {"memory": "2GiB"}
    pair = run_both(script("out_of_memory", argument), tmp_path, **memory)
    assert pair.bare.status == (1 if argument == "uncaught" else 0)
    assert counted(one_trace(pair), "oom") == (2 if argument == "uncaught" else 1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", ["os._exit", "interpreter's end"])
def test_threads_that_allocate_while_the_process_exits(way, tmp_path):
    """Where Python itself ends under such threads, PyTorch aborts: without memtrace as well. How
    many of the threads get to say so on standard error differs from run to run."""
    pair = run_both(script("threads_at_exit", way), tmp_path, compare_stderr=way == "os._exit")
    assert pair.bare.stdout == b"leaving\n"
    assert way != "os._exit" or pair.bare.status == 5
    lines = one_trace(pair)
    assert len({line["thread"] for line in lines if line["kind"] == "alloc"}) >= 4


@pytest.mark.parametrize(("program", "traces"), [
    pytest.param(*one, marks=() if one[0] == "spawned_trainer" else pytest.mark.slow) for one in cases.SEVERAL_TRACES])
def test_processes_that_start_others(program, traces, tmp_path):
    pair = run_both(script(program), tmp_path)
    assert pair.bare.status == 0
    assert len(pair.traced.traces) == traces
    for trace in pair.traced.traces:
        assert counted(events(trace), "alloc") > 10


def test_isolated_interpreter(tmp_path):
    text = "import torch; a = torch.ones(1000, device='cuda'); print(a.shape, a.is_cuda)"
    pair = run_both([runs.python(), "-I", "-c", text], tmp_path)
    assert pair.bare.status == 0
    assert counted(one_trace(pair), "alloc") >= 1


@pytest.mark.slow
def test_a_shell_in_between(tmp_path):
    interpreter, *arguments = script("normal")
    path = {"PATH": f"{Path(interpreter).parent}:{os.environ['PATH']}"}  # as in an active venv
    command = " ".join([Path(interpreter).name, *arguments])
    pair = run_both(["sh", "-c", f"echo before; {command}; echo after $?"], tmp_path, env=path)
    assert pair.bare.stdout.endswith(b"after 0\n")
    agrees(one_trace(pair), pair.bare.stdout)


@pytest.mark.slow
def test_torchrun_leaves_a_trace_a_rank(tmp_path):
    for folder in ("bare", "traced"):
        (tmp_path / folder).mkdir()
    command = [runs.python(), "-m", "torch.distributed.run", "--nproc-per-node=2",
               "--master-port=0", "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0",
               *script("two_ranks")[1:]]
    devices = {} if runs.on_real_gpu() else {"devices": 2}
    outcomes = [
        runs.run(command, output, env={"RANKS": str(tmp_path / folder), "OMP_NUM_THREADS": "1"},
                 **devices)
        for folder, output in (("bare", None), ("traced", tmp_path / "trace"))
    ]
    assert outcomes[0].expect(0).status == outcomes[1].expect(0).status
    peaks = [[(tmp_path / folder / f"rank{rank}").read_text() for rank in (0, 1)]
             for folder in ("bare", "traced")]
    assert peaks[0] == peaks[1]
    assert len(outcomes[1].traces) == 2
    ranks = []
    for trace in outcomes[1].traces:
        lines = events(trace)
        assert counted(lines, "alloc") > 5
        ranks += [line["value"] for line in lines if line["kind"] == "info" and line["key"] == "rank"]
    assert sorted(ranks) == ["0", "1"]


@pytest.mark.parametrize("command", [
    pytest.param(["sh", "-c", "echo hello; echo error >&2; exit 3"], id="shell"),
    pytest.param(script("without_cuda"), id="torch without CUDA"),
    pytest.param([runs.python(), "-c", "print(1)"], id="python"),
])
def test_without_cuda_nothing_is_written_or_said(command, tmp_path):
    bare = runs.run(command, None)
    output = tmp_path / "trace"
    output.mkdir()
    traced = runs.run(runs.preloaded(command), None, env={"MEMTRACE_OUTPUT": str(output)})
    assert (traced.stdout, traced.stderr, traced.status) == (bare.stdout, bare.stderr, bare.status)
    assert list(output.iterdir()) == []


def test_disabled_it_writes_and_says_nothing(tmp_path):
    bare = runs.run(script("normal"), None).expect(0)
    command = runs.preloaded(script("normal"))
    traced = runs.run(command, None, cwd=tmp_path, env={"MEMTRACE_DISABLE": "1"})
    assert (traced.stdout, traced.stderr, traced.status) == (bare.stdout, bare.stderr, bare.status)
    assert list(tmp_path.iterdir()) == []
    assert said(bare.stdout)
