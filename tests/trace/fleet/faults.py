# SPDX-License-Identifier: Apache-2.0
"""Faults of a fleet, each tried for real: returns what memtrace said. AssertionError: something was lost,
is there twice, was left half-written, or there was no sentence."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Iterator

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "generator")]

import pyarrow  # noqa: E402
import pyarrow.parquet  # noqa: E402

import real_runs  # noqa: E402
import runs  # noqa: E402


def command(*arguments: object) -> list[str]:
    return [str(runs.memtrace()), "fleet", *map(str, arguments)]


def environment() -> dict[str, str]:
    return runs.environment({"MEMTRACE_PYTHON": runs.python()})


def run_ids(fleet: Path) -> list[str]:
    """The runs in all whole files of the store, sorted; fails where one is not whole."""
    found = []
    for path in fleet.rglob("*.parquet"):
        found += {row["run_id"] for row in pyarrow.parquet.ParquetFile(path).read(["run_id"]).to_pylist()}
    return sorted(found)


def leftovers(fleet: Path) -> list[Path]:
    return [path for path in fleet.rglob("*") if path.is_file() and path.suffix != ".parquet"]


def sentence(done: subprocess.CompletedProcess, word: str) -> str:
    """The one that has this word."""
    said = [line for line in done.stderr.splitlines() if word in line]
    assert said and all(line.startswith("memtrace: ") for line in done.stderr.splitlines()), done.stderr
    assert "Traceback" not in done.stderr
    return said[0].removeprefix("memtrace: ")


def counted(fleet: Path, expected: int) -> None:
    """The report counts each run once."""
    done = real_runs.fleet("report", fleet, "--json", "-", "--question", "runs")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"] == expected, done.stdout[:500]


def copies(traces: list[Path], folder: Path) -> list[Path]:
    """Folders, a run each."""
    made = []
    for number, trace in enumerate(traces):
        own = folder / f"run{number}"
        own.mkdir(parents=True)
        shutil.copy(trace, own)
        made.append(own)
    return made


def _hooked(fault: str, mark: Path) -> dict[str, str]:
    """The environment of a writer to which hooks/sitecustomize.py does this."""
    return {**environment(), "PYTHONPATH": str(HERE / "hooks"), "MEMTRACE_TEST_FAULT": fault, "MEMTRACE_TEST_MARK": str(mark)}


def _stop_in_the_middle(fleet: Path, source: Path, fault: str, mark: Path) -> Path:
    """A writer is killed while its file has no name yet; what it leaves."""
    writer = subprocess.Popen(command("add", fleet, source, "--jobs", 1), env=_hooked(fault, mark),
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        deadline = time.monotonic() + 600
        while not mark.exists():
            assert writer.poll() is None, f"it ended before it could be killed: {writer.communicate()[1]}"
            assert time.monotonic() < deadline, "it did not come to write"
            time.sleep(0.02)
        (left,) = leftovers(fleet)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(writer.pid, signal.SIGKILL)
        writer.communicate()
    return left


def writer_killed(folder: Path, traces: list[Path]) -> str:
    """With half of a file written, and with all of it but its name; then the same command again."""
    sources = copies(traces, folder / "traces")
    fleet = folder / "fleet"
    left = [_stop_in_the_middle(fleet, sources[0], "half", folder / "half")]
    size = left[0].stat().st_size
    assert size > 0 and not run_ids(fleet)  # nothing has its name
    left[0].rename(folder / "half.parquet")  # so that the next leaves one alone
    left = [_stop_in_the_middle(fleet, sources[0], "whole", folder / "whole")]
    assert left[0].stat().st_size > size and not run_ids(fleet)
    shutil.copy(folder / "half.parquet", left[0].with_name(left[0].name.replace(".tmp", "-half.tmp")))
    done = subprocess.run(command("add", fleet, *sources), env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(run_ids(fleet)) == len(set(run_ids(fleet))) == len(sources)
    counted(fleet, len(sources))  # what was left counts for nothing
    return sentence(done, "runs:")


def two_add_the_same(folder: Path, traces: list[Path]) -> str:
    sources = copies(traces, folder / "traces")
    fleet = folder / "fleet"
    writers = [subprocess.Popen(command("add", fleet, *sources), env=environment(), stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0], said
    assert len(run_ids(fleet)) == len(set(run_ids(fleet))) == len(sources)
    assert not leftovers(fleet)
    counted(fleet, len(sources))
    return said[0].strip().splitlines()[-1].removeprefix("memtrace: ")


def truncated_trace(folder: Path, traces: list[Path]) -> str:
    """Half a file: what is left of it is summarised, and it says so."""
    source = copies(traces[:1], folder / "traces")[0]
    trace = next(source.glob("*.mtrace"))
    os.truncate(trace, trace.stat().st_size // 2)
    done = real_runs.fleet("add", folder / "fleet", source)
    assert done.returncode == 0, done.stderr
    (path,) = (folder / "fleet").rglob("*.parquet")
    (row,) = pyarrow.parquet.ParquetFile(path).read(["truncated"]).to_pylist()
    assert row["truncated"] is True
    return sentence(done, "cut off")


def no_trace_at_all(folder: Path, traces: list[Path]) -> str:
    """Among good ones: it is named, the others are added, and the exit status says that not all were."""
    sources = copies(traces, folder / "traces")
    bad = folder / "traces" / "bad"
    bad.mkdir()
    (bad / "train.py.1.mtrace").write_bytes(b"not a trace")
    done = real_runs.fleet("add", folder / "fleet", *sources, bad)
    assert done.returncode == 1
    assert len(run_ids(folder / "fleet")) == len(sources)
    return sentence(done, "bad/train.py.1.mtrace")


def wrong_schema(folder: Path, traces: list[Path]) -> str:
    """A file of another program, one of a later major version, and one that is no Parquet: left out, each by name."""
    fleet = folder / "fleet"
    assert real_runs.fleet("add", fleet, *copies(traces, folder / "traces")).returncode == 0
    whole = next(fleet.rglob("*.parquet"))
    for name, content in (("1111111111111111", None), ("2222222222222222", b"PAR1 no"), ("3333333333333333", b"")):
        target = fleet / "date=2026-11-01" / "project=other" / f"run={name}" / whole.name
        target.parent.mkdir(parents=True)
        if content is None:
            pyarrow.parquet.write_table(pyarrow.table({"run_id": [1], "events": ["many"]}), target)
        else:
            target.write_bytes(content)
    done = real_runs.fleet("report", fleet, "--json", "-")
    assert json.loads(done.stdout)["runs"] == len(traces), done.stderr
    for name in ("1111111111111111", "2222222222222222", "3333333333333333"):
        sentence(done, name)
    return sentence(done, "1111111111111111")


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[bool]:
    """A file system of 256 KiB at `folder`; False where it cannot be mounted."""
    folder.mkdir(parents=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)],
                             capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def full_disk(folder: Path, traces: list[Path]) -> str:
    """Nothing half-written stays; what was there is as it was."""
    sources = copies(traces, folder / "traces")
    with _small_disk(folder / "fleet") as mounted:
        assert mounted, "no small file system can be mounted here"
        fleet = folder / "fleet"
        added = real_runs.fleet("add", fleet, sources[0])
        assert added.returncode == 0, added.stderr
        before = run_ids(fleet)
        # The room that is left is less than a summary needs.
        disk = os.statvfs(fleet)
        (fleet / "filling").write_bytes(bytes(max(0, disk.f_bavail * disk.f_frsize - 8192)))
        done = real_runs.fleet("add", fleet, *sources[1:], "--jobs", 1)
        (fleet / "filling").unlink()
        assert done.returncode == 1
        after = run_ids(fleet)
        assert set(before) <= set(after) and len(after) < len(sources) and not leftovers(fleet)
        said = sentence(done, "cannot be written")
        assert str(fleet) in said and "No space left" in said  # the store's write, and not the report's own files
        return said


def file_size_limit(folder: Path, traces: list[Path]) -> str:
    """ulimit -f, as the kernel has it, from the moment that the file in the store is opened: of a run that is new, and of
    one that is there already."""
    fleet = folder / "fleet"
    sources = copies(traces, folder / "traces")
    assert real_runs.fleet("add", fleet, sources[0]).returncode == 0
    before = {path: path.read_bytes() for path in fleet.rglob("*") if path.is_file()}
    for source in sources:
        done = subprocess.run(command("add", fleet, source, "--again", "--jobs", 1), env=_hooked("limit", folder / "-"),
                              capture_output=True, text=True)
        assert done.returncode == 1, done.stderr
        assert {path: path.read_bytes() for path in fleet.rglob("*") if path.is_file()} == before
        said = sentence(done, "cannot be written")
        assert str(fleet) in said and "File too large" in said
    return said


def can_mount(folder: Path) -> bool:
    with _small_disk(folder) as mounted:
        return mounted


ALL: dict[str, Callable[[Path, list[Path]], str]] = {
    "a writer is killed in the middle": writer_killed,
    "three add the same runs at once": two_add_the_same,
    "a trace is cut off": truncated_trace,
    "a file among the traces is none": no_trace_at_all,
    "files of another schema in the store": wrong_schema,
    "the disk is full": full_disk,
    "files may not grow (ulimit -f)": file_size_limit,
}
