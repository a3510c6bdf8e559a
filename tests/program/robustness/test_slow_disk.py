# SPDX-License-Identifier: Apache-2.0
"""A disk that does not answer: the program goes on, ends, and can be killed as if it did; what was
recorded is not lost, and what was not is counted, told, and contradicts nothing."""

import itertools
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import runs
from disks import disk  # noqa: F401
from pairs import counted, events, script, without_our_lines

pytestmark = pytest.mark.usefixtures("built")

# Their number depends on time, and these tests count.
QUIET = {"MEMTRACE_SAMPLING": "0", "MEMTRACE_CENSUS": "0"}
PATIENCE = 240  # seconds; only what waits for ever takes longer
LEAK_SHAPES = ("accumulating", "stepwise", "sawtooth_leak")
ROOM = 600_000  # events that both slots cannot hold


def head_of(trace: Path) -> Path | None:
    """The file in memory that the trace names (memtrace/trace_format.h)."""
    with open(trace, "rb") as file:
        name = file.read(192)[128:].rstrip(b"\0").decode()
    return Path("/dev/shm") / name if name else None


HEADS = []


@pytest.fixture(autouse=True)
def no_file_in_memory_stays():
    """Not even those of the processes that are killed here."""
    yield
    for head in HEADS:
        head.unlink(missing_ok=True)
    HEADS.clear()


class Program:
    """on_command.py, told what to do a line a time."""

    def __init__(self, output, before=(), env=None, is_preloaded=False):
        """Preloaded: the launcher, which looks at the folder first, knows nothing of it."""
        if is_preloaded:
            line, variables = runs.command_line(runs.preloaded(script("on_command")), None)
            variables = {**variables, "MEMTRACE_OUTPUT": str(output)}
        else:
            line, variables = runs.command_line(script("on_command"), output)
        self.process = subprocess.Popen(
            [*before, *line], env=runs.environment({**variables, **QUIET, **(env or {})}),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.output = output
        self.answers = []

    def line(self) -> bytes:
        """Not by readline(), which would wait for ever where the program does."""
        text, until = b"", time.monotonic() + PATIENCE
        while not text.endswith(b"\n"):
            assert time.monotonic() < until, "the program does not get on"
            text += self.process.stdout.readline() or b""
            if not text.endswith(b"\n"):
                assert self.process.poll() is None, self.process.stderr.read()
                time.sleep(0.01)
        return text

    def do(self, what: str) -> int:
        """How many allocations and frees it has done by then."""
        self.process.stdin.write(what.encode() + b"\n")
        self.process.stdin.flush()
        self.answers.append(self.line())
        return int(self.answers[-1].split()[0])

    def held(self) -> int:
        """The bytes that it held when it last answered."""
        return int(self.answers[-1].split()[1])

    def end(self) -> bytes:
        self.process.stdin.write(b"end\n")
        self.process.stdin.flush()
        self.answers.append(self.line())
        self.process.stdin.close()
        return b"".join(self.answers)

    def ends(self) -> runs.Outcome:
        """It is gone, disk or no disk."""
        self.process.wait(timeout=PATIENCE)
        traces = runs.traces_in(self.output)
        HEADS.extend(filter(None, map(head_of, traces)))
        return runs.Outcome(self.process.returncode, b"".join(self.answers),
                            self.process.stderr.read(), traces)


def own_pid(program: Program) -> int:
    """The process id of the Python below the launcher, whichever of them the process is."""
    folder = f"/proc/{program.process.pid}/task/{program.process.pid}/children"
    children = open(folder).read().split()
    return int(children[0]) if children else program.process.pid


def allocations_and_frees(trace) -> int:
    lines = events(trace)
    return counted(lines, "alloc") + counted(lines, "free_requested")


def told(outcome) -> list[bytes]:
    return [line for line in outcome.stderr.splitlines() if b"not recorded, only counted" in line]


def last_total(trace: Path) -> int:
    """The bytes held after the last event that is recorded by now."""
    lines = runs.dump(trace, stacks=False, last=10)
    return next(line["allocated"] for line in reversed(lines) if "allocated" in line)


def goes_on_recording(program: Program) -> int:
    """Rounds of events until one is recorded to its end: the disk answers again, but has yet to
    take what waits, and until then events are counted only. How long that takes is its own affair."""
    until = time.monotonic() + PATIENCE
    for rounds in itertools.count(1):
        program.do("events 4000")
        (trace,) = runs.traces_in(program.output)
        if last_total(trace) == program.held():
            return rounds
        assert time.monotonic() < until, "recording does not go on"


@pytest.mark.slow
def test_a_frozen_disk_does_not_hold_the_program_up(disk, tmp_path):  # noqa: F811
    """It goes on, is counted, and recording goes on with the disk."""
    program = Program(disk.folder / "trace")
    program.do("events 4000")
    disk.freeze()
    program.do(f"events {ROOM}")
    disk.thaw()
    rounds = goes_on_recording(program)
    # Every block that lives at its end is of this round, which is recorded whole.
    program.do("events 4000")
    at_the_end = program.held()
    program.end()
    outcome = program.ends().expect(0)

    again = Program(tmp_path / "whole")
    for count in [4000, ROOM, *[4000] * (rounds + 1)]:
        again.do(f"events {count}")
    again.end()
    whole = again.ends().expect(0)
    assert outcome.stdout == whole.stdout
    assert without_our_lines(outcome.stderr) == without_our_lines(whole.stderr)
    assert len(told(outcome)) == 1 and not told(whole)

    complete, cut = (runs.report(one.traces, tmp_path) for one in (whole, outcome))
    facts = cut["completeness"]
    assert complete["completeness"]["gaps"] == [] and facts["clean_exit"] is True
    assert len(facts["gaps"]) >= 1
    assert sum(gap["events"] for gap in facts["gaps"]) <= facts["dropped_events"]
    assert all(0 < gap["begin_ns"] <= gap["end_ns"] for gap in facts["gaps"])
    # Each gap is told by a record, which is an event, too.
    recorded = facts["events"] - len(facts["gaps"])
    assert recorded + facts["dropped_events"] == complete["completeness"]["events"]
    assert facts["dropped_events"] > 0 and facts["dropped_because"] == "slow_disk"
    text = runs.report_text(outcome.traces)
    assert "figures after that are incomplete" in text.replace("\n", " ").replace("  ", " ")
    assert "every total equal" not in text

    # Though most ends were not seen, no block is thought to live that does not.
    assert facts["total_mismatches"] == 0
    lines = runs.dump(outcome.traces[0], stacks=False, last=4000)
    last = [line for line in lines if line["kind"] == "alloc"][-1]
    assert last["replayed_allocated"] == last["allocated"] == at_the_end
    # How much lies in the gap depends on time. Of a short rest more steps may be asked for, but
    # nothing in it grows.
    verdict, = cut["verdicts"]
    assert verdict["shape"] not in LEAK_SHAPES and verdict["culprits"] == []
    assert verdict["shape"] != "unknown" or verdict["more_steps_needed"] > 0


def test_a_disk_that_does_not_answer_at_the_start(disk):  # noqa: F811
    """The first event waits a second for it; the others are counted until the trace can begin."""
    (disk.folder / "trace").mkdir()
    disk.freeze()
    program = Program(disk.folder / "trace", is_preloaded=True)
    program.do("events 4000")
    begin = time.monotonic()
    program.do("events 4000")
    assert time.monotonic() - begin < 60  # nothing waits any more
    disk.thaw()
    until = time.monotonic() + PATIENCE
    while not runs.traces_in(program.output):  # its thread has the disk's answer a moment later
        program.do("events 100")
        assert time.monotonic() < until
    goes_on_recording(program)
    program.end()
    outcome = program.ends().expect(0)
    facts = runs.report(outcome.traces, disk.folder)["completeness"]
    assert facts["clean_exit"] and facts["dropped_because"] == "slow_disk"
    assert facts["dropped_events"] >= sum(gap["events"] for gap in facts["gaps"]) > 8000
    assert b"does not answer; events are not recorded, only counted, until it does" in outcome.stderr


def test_a_program_ends_while_the_disk_does_not_answer(disk):  # noqa: F811
    program = Program(disk.folder / "trace")
    program.do("events 4000")
    disk.freeze()
    done = program.do("events 4000")
    program.end()
    outcome = program.ends().expect(0)  # still frozen
    disk.thaw()
    assert allocations_and_frees(outcome.traces[0]) >= done


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_kill_while_the_disk_does_not_answer_loses_nothing(number, disk):  # noqa: F811
    program = Program(disk.folder / "trace")
    program.do("events 4000")
    disk.freeze()
    done = program.do("events 40000")
    os.kill(own_pid(program), number)
    outcome = program.ends()  # still frozen
    assert outcome.status != 0
    disk.thaw()
    assert allocations_and_frees(outcome.traces[0]) >= done
    # By now it is in the trace itself: that may be copied to another machine.
    moved = disk.folder / "moved.mtrace"
    moved.write_bytes(outcome.traces[0].read_bytes())
    assert allocations_and_frees(moved) >= done


WITHOUT_SHARED_MEMORY = {
    "none": "umount -l /dev/shm",
    "small": "mount -t tmpfs -o size=4m tmpfs /dev/shm",
    "read only": "mount -t tmpfs -o ro tmpfs /dev/shm",
    "a disk": "mount --bind {disk} /dev/shm",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("way", WITHOUT_SHARED_MEMORY)
def test_without_shared_memory_the_trace_follows_within_a_moment(way, disk, tmp_path):  # noqa: F811
    """Where no file in memory can be had, a kill loses only what is not in the trace yet."""
    command = WITHOUT_SHARED_MEMORY[way].format(disk=disk.folder)
    before = ["unshare", "--mount", "sh", "-c", f'{command} && exec "$@"', "sh"]
    if subprocess.run([*before, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace can be made here")
    program = Program(tmp_path / "trace", before)
    done = program.do("events 4000")
    until = time.monotonic() + PATIENCE
    (trace,) = runs.traces_in(tmp_path / "trace")
    while allocations_and_frees(trace) < done:
        assert time.monotonic() < until, "the trace does not follow"
    os.kill(own_pid(program), signal.SIGKILL)
    program.ends()
    assert allocations_and_frees(trace) >= done


def test_the_first_process_of_a_namespace_is_killed(tmp_path):
    """As a container's is: all of its processes die with it."""
    before = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*before, "true"], capture_output=True).returncode != 0:
        pytest.skip("no PID namespace can be made here")
    program = Program(tmp_path / "trace", before)
    done = program.do("events 4000")
    program.process.kill()  # unshare, and by --kill-child the namespace
    program.ends()
    (trace,) = runs.traces_in(tmp_path / "trace")
    until = time.monotonic() + PATIENCE
    while allocations_and_frees(trace) < done:
        assert time.monotonic() < until, "events are lost"


def test_few_descriptors(tmp_path):
    """RLIMIT_NOFILE 64: recording holds one."""
    limits = ["prlimit", "--nofile=64", "--"]
    program = Program(tmp_path / "trace", limits)
    program.do("events 4000")
    done = program.do("events 4000")
    program.end()
    outcome = program.ends().expect(0)
    assert allocations_and_frees(outcome.traces[0]) >= done


def test_a_root_that_cannot_be_written(tmp_path):
    folder = tmp_path / "memory"
    folder.mkdir()
    before = ["unshare", "--mount", "sh", "-c",
              f'mount -t tmpfs tmpfs {folder} && mount -o remount,bind,ro / && exec "$@"', "sh"]
    if subprocess.run([*before, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace can be made here")
    program = Program(folder / "trace", before, {"XDG_CACHE_HOME": str(folder)})
    program.do("events 4000")
    program.end()
    program.process.wait(timeout=PATIENCE)
    stderr = program.process.stderr.read()
    assert program.process.returncode == 0, stderr
    assert b"recorded" in stderr and b"incomplete" not in stderr


def test_no_file_in_memory_is_left_behind(tmp_path):
    """By a program that ends, and after the report on one that was killed."""
    program = Program(tmp_path / "ends")
    program.do("events 100")
    head = head_of(runs.traces_in(tmp_path / "ends")[0])
    assert head.exists()
    program.end()
    program.ends().expect(0)
    assert not head.exists()
    program = Program(tmp_path / "killed")
    program.do("events 100")
    os.kill(own_pid(program), signal.SIGKILL)
    outcome = program.ends()
    head = head_of(outcome.traces[0])
    assert head.exists()
    until = time.monotonic() + PATIENCE
    while head.exists():  # the process's end may take the kernel a moment
        runs.report(outcome.traces, tmp_path)
        assert time.monotonic() < until
