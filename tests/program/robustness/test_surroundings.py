# SPDX-License-Identifier: Apache-2.0
"""Where the machine forbids or lacks something, or the program uses it hard: the same output and exit
status with and without memtrace, and a trace with everything that PyTorch counted."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import runs
from pairs import agrees, counted, events, run_both, said, script

pytestmark = pytest.mark.usefixtures("built")


def one_trace(pair) -> list[dict]:
    assert len(pair.traced.traces) == 1
    return events(pair.traced.traces[0])


def exactly(lines: list[dict], allocated: int, freed: int) -> None:
    """All that was allocated; what the program had until its end may be freed after it counted."""
    assert counted(lines, "alloc") == allocated > 10
    assert freed <= counted(lines, "free_requested") <= allocated


def whole(pair, status: int = 0) -> None:
    assert pair.bare.status == status, pair.bare.stderr
    counters = said(pair.bare.stdout)
    exactly(one_trace(pair), counters["allocation.all.allocated"], counters["allocation.all.freed"])


def test_two_training_threads(tmp_path):
    pair = run_both(script("two_training_threads"), tmp_path)
    whole(pair)
    lines = events(pair.traced.traces[0])
    # Both threads, and the one of autograd.
    assert len({line["thread"] for line in lines if line["kind"] == "alloc"}) >= 3


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_threads(count, tmp_path):
    pair = run_both(script("many_threads", str(count)), tmp_path)
    assert pair.bare.status == 0
    lines = one_trace(pair)
    allocated, freed, current = map(int, pair.bare.stdout.split())
    # None of those that come while the first one attaches may be known by its report alone.
    allocations = [line for line in lines if line["kind"] == "alloc"]
    frees = [line for line in lines if line["kind"] == "free_requested"]
    assert (len(allocations), len(frees)) == (allocated, freed)
    assert len({line["thread"] for line in allocations}) == count
    assert current == 0


@pytest.mark.parametrize(("left", "words"), [
    pytest.param("256", b"no more memory\n", marks=pytest.mark.slow), ("24", b"no more memory\n"), ("0", b"took it all\n")])
def test_address_space_runs_out(left, words, tmp_path):
    pair = run_both(script("takes_memory", left), tmp_path)
    assert pair.bare.stdout.startswith(words)
    whole(pair)


@pytest.mark.slow
def test_a_limit_on_address_space_from_the_start(tmp_path):
    """The limit is its need without memtrace and a quarter of a GiB: ours must do with little."""
    peak = "import re; print(re.search(r'VmPeak:\\s+(\\d+) kB', open('/proc/self/status').read())[1])"
    text = f"import runpy; runpy.run_path({script('normal')[1]!r}, run_name='__main__')\n{peak}"
    env = {"PYTHONPATH": str(Path(script("normal")[1]).parent)}
    bare = runs.run([runs.python(), "-c", text], None, env=env).expect(0)
    limit = (int(bare.stdout.split()[-1]) << 10) + (256 << 20)
    whole(run_both(["prlimit", f"--as={limit}", *script("normal")], tmp_path))


def test_few_descriptors(tmp_path):
    pair = run_both(["prlimit", "--nofile=64", *script("takes_descriptors")], tmp_path)
    assert pair.bare.stdout.startswith(b"Too many open files\n")
    whole(pair)


# A table of descriptors of one's own: by close_range, or by unshare.
OWN_TABLE = ("import ctypes, sys; c = ctypes.CDLL(None).syscall; most = ctypes.c_uint(0xffffffff); "
             "sys.exit(c(436, most, most, 2) != 0 and c(272, 0x400) != 0)")


@pytest.mark.parametrize("filtered", [
    pytest.param([], id="plain"),
    pytest.param(["enosys", "436"], id="before Linux 5.9"),  # close_range
    pytest.param(["kill", "436"], id="a filter that kills"),
])
def test_the_numbers_of_descriptors(filtered, tmp_path):
    """Those that a program gets, and how many, up to the last one that it may have."""
    if subprocess.run([sys.executable, "-c", OWN_TABLE], check=False).returncode != 0:
        pytest.skip("this machine's sandbox allows neither close_range nor unshare")
    numbers = ["prlimit", "--nofile=64", *script("takes_descriptors", "numbers")]
    pair = run_both(script("under_a_filter", *filtered, *numbers) if filtered else numbers, tmp_path)
    if pair.bare.status == 77:
        pytest.skip(pair.bare.stderr.decode().strip())


@pytest.mark.slow
def test_workers_with_few_descriptors(tmp_path):
    whole(run_both(["prlimit", "--nofile=64", *script("data_loader_workers", "fork")], tmp_path))


# On x86-64: what reads memory that may be gone, makes files without a name, has descriptors of its own.
PROCESS_VM_READV, MEMFD_CREATE, CLOSE_RANGE, UNSHARE, MEMBARRIER = 310, 319, 436, 272, 324
OFTEN_FORBIDDEN = [PROCESS_VM_READV, MEMFD_CREATE]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("answer", "numbers"), [
    pytest.param("eperm", OFTEN_FORBIDDEN, marks=pytest.mark.slow), ("enosys", OFTEN_FORBIDDEN),
    ("eperm", [*OFTEN_FORBIDDEN, CLOSE_RANGE, UNSHARE, MEMBARRIER]),
], ids=["eperm", "enosys", "more"])
def test_a_filter_before_system_calls(answer, numbers, tmp_path):
    listed = ",".join(map(str, numbers))
    pair = run_both(script("under_a_filter", answer, listed, *script("normal")), tmp_path)
    if pair.bare.status == 77:
        pytest.skip(pair.bare.stderr.decode().strip())
    whole(pair)


@pytest.mark.slow
def test_a_filter_that_kills(tmp_path):
    """Some sandboxes end a process for a call that they do not know."""
    listed = ",".join(map(str, OFTEN_FORBIDDEN))
    pair = run_both(script("under_a_filter", "kill", listed, *script("normal")), tmp_path)
    if pair.bare.status == 77:
        pytest.skip(pair.bare.stderr.decode().strip())
    whole(pair)


def in_namespaces(options: list[str], text: str, command: list[str]) -> list[str]:
    """The command where `text` has been done first, in namespaces of its own; skips where it may not."""
    def line(rest: list[str]) -> list[str]:
        return ["unshare", *options, "sh", "-c", f'{text} && exec "$@"', "sh", *rest]

    tried = subprocess.run(line(["true"]), capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no such namespace can be made here: {tried.stderr.strip()}")
    return line(command)


READ_ONLY = "mount -o remount,bind,ro / && cd /"
# Without any folder for temporary files Dynamo cannot be imported.
SOMEWHERE = {"TMPDIR": "/dev/shm"}


def test_read_only_root(tmp_path):
    """With the trace on a file system of its own."""
    with_output = f"mount --bind {tmp_path} {tmp_path} && {READ_ONLY}"
    whole(run_both(in_namespaces(["--mount"], with_output, script("normal")), tmp_path, env=SOMEWHERE))


def test_read_only_everything(tmp_path):
    """No trace, and one line that says so."""
    command = in_namespaces(["--mount"], READ_ONLY, script("normal"))
    bare = runs.run(command, None, env=SOMEWHERE).expect(0)
    traced = runs.run(command, tmp_path / "trace", env=SOMEWHERE).expect(0)
    assert traced.stdout == bare.stdout
    assert runs.traces_in(tmp_path / "trace") == []
    ours = [line for line in traced.stderr.splitlines()
            if line.startswith(b"memtrace") and b"simulated GPU" not in line]
    assert len(ours) == 1, traced.stderr


@pytest.mark.one_in(2)
@pytest.mark.parametrize("options", [
    pytest.param(["--pid", "--fork", "--mount-proc"], id="as in a container"),
    # /proc is of another namespace: there, this process has another number or is another one.
    pytest.param(["--pid", "--fork"], id="with the outer proc"),
])
@pytest.mark.parametrize("program", [
    pytest.param(("normal",), id="normal"),
    pytest.param(("data_loader_workers", "fork"), id="workers", marks=pytest.mark.slow)])
def test_a_namespace_of_processes(options, program, tmp_path):
    whole(run_both(in_namespaces(options, "true", script(*program)), tmp_path))


@pytest.mark.slow
def test_without_proc(tmp_path):
    hide = "mount -t tmpfs none /proc"
    whole(run_both(in_namespaces(["--mount"], hide, script("normal")), tmp_path))


@pytest.mark.slow
def test_a_storm_of_forks(tmp_path):
    """How often the other threads allocate meanwhile is not the same twice; PyTorch counts it."""
    pair = run_both(script("fork_storm"), tmp_path, compare_stderr=False)
    assert pair.bare.status == 0 and pair.bare.stdout.split()[0] == b"200"
    counts = re.search(rb"^(\d+) (\d+)$", pair.traced.stderr, re.M)
    exactly(one_trace(pair), int(counts[1]), int(counts[2]))


@pytest.mark.slow
def test_children_that_are_forked_before_cuda(tmp_path):
    pair = run_both(script("forks_before_cuda"), tmp_path)
    assert pair.bare.status == 0
    wanted = re.findall(rb"allocation.all.allocated=(\d+)", pair.bare.stdout)
    found = [counted(events(trace), "alloc") for trace in pair.traced.traces]
    assert len(found) == 7
    assert sorted(found) == sorted(map(int, wanted))


@pytest.mark.parametrize("kibibytes", [64, pytest.param(256, marks=pytest.mark.slow)])
def test_small_stacks(kibibytes, tmp_path):
    pair = run_both(script("small_stacks", str(kibibytes)), tmp_path)
    assert pair.bare.stdout.startswith(b"too deep\n")
    whole(pair)


@pytest.mark.slow
def test_interrupted_by_a_timer(tmp_path):
    pair = run_both(script("interrupted"), tmp_path, compare_stderr=False)
    assert pair.bare.stdout == b"ticks 200\n"
    counts = re.search(rb"^(\d+) (\d+)$", pair.traced.stderr, re.M)
    exactly(one_trace(pair), int(counts[1]), int(counts[2]))


@pytest.mark.slow
def test_standard_streams_that_are_closed(tmp_path):
    """The files that the program opens first get their numbers; nothing of ours may go there."""
    text = "import small_training as s, sys; t = s.Training(); t.steps(3); " \
           "open(sys.argv[1], 'w').write(s.counters())"
    said_in = []
    for name in ("bare", "traced"):
        file = tmp_path / f"{name}.said"
        command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", runs.python(), "-c", text, str(file)]
        outcome = runs.run(command, None if name == "bare" else tmp_path / "trace",
                           env={"PYTHONPATH": str(Path(script("normal")[1]).parent)}).expect(0)
        said_in.append(file.read_bytes())
    assert said_in[0] == said_in[1]
    assert len(outcome.traces) == 1
    agrees(events(outcome.traces[0]), said_in[1])


def test_a_daemon_closes_every_descriptor(tmp_path):
    """The files that it opens then get our numbers, and must hold what the program wrote alone."""
    said_in = []
    for name in ("bare", "traced"):
        file = tmp_path / name
        traced = runs.run(script("ends_all_streams", str(file)),
                          None if name == "bare" else tmp_path / "trace").expect(4)
        said_in.append(file.read_bytes())
        assert [one.stat().st_size for one in tmp_path.glob(f"{name}.*")] == [0] * 12
    assert said_in[0] == said_in[1]
    assert len(traced.traces) == 1
    agrees(events(traced.traces[0]), said_in[1])
