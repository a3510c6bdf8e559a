# SPDX-License-Identifier: Apache-2.0
"""A command may be told to write to no regular file, as /dev/null is none: it takes what is written, or the command
refuses in a sentence; it is never replaced by a file."""

import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import runs

NULL = (1, 3)  # of /dev/null; a device of a test's own, as a mistake would take the machine's away


@dataclass
class Special:
    path: Path
    kind: int  # of its mode
    number: int

    def is_as_it_was(self) -> bool:
        facts = os.lstat(self.path)
        return stat.S_IFMT(facts.st_mode) == self.kind and facts.st_ino == self.number and \
            [one.name for one in self.path.parent.iterdir()] == [self.path.name]


def _device(path: Path) -> bool:
    """False where it cannot be made, or not be opened."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(*NULL))
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        path.unlink(missing_ok=True)
        return False
    return True


@pytest.fixture(params=["device", "pipe"])
def special(request, tmp_path):
    folder = tmp_path / "special"
    folder.mkdir()
    path = folder / "null"
    reader = None
    if request.param == "pipe":
        os.mkfifo(path)
        reader = os.open(path, os.O_RDWR)  # so that who opens it need not wait
    elif not _device(path):
        pytest.skip("no device can be made here: root is needed")
    facts = os.lstat(path)
    yield Special(path, stat.S_IFMT(facts.st_mode), facts.st_ino)
    if reader is not None:
        os.close(reader)


@pytest.fixture(scope="module")
def store(recorded, tmp_path_factory):
    from memtrace.fleet.__main__ import main

    place = tmp_path_factory.mktemp("devices") / "fleet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMTRACE_COMMAND", str(runs.memtrace()))
        assert main(["add", str(place), str(recorded["steady"].folder)]) == 0
    return place


def _emptied(special: Special, *command: object) -> subprocess.CompletedProcess:
    """The command; a pipe is read meanwhile, as more is written than it holds."""
    reader = subprocess.Popen(["cat", special.path], stdout=subprocess.DEVNULL) if special.kind == stat.S_IFIFO else None
    try:
        return subprocess.run([str(one) for one in command], capture_output=True, text=True, timeout=300,
                              env=runs.environment({"MEMTRACE_PYTHON": runs.python()}))
    finally:
        if reader:
            reader.kill()
            reader.wait()


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_a_fleets_report_goes_where_it_is_sent(special, store, option):
    done = _emptied(special, runs.memtrace(), "fleet", "report", store, option, special.path, "--force")
    assert done.returncode == 0, done.stderr
    assert special.is_as_it_was()


@pytest.mark.parametrize(("option", "sentence"), [
    (["report", "--json"], None), (["report", "--html"], "--force to replace it"),
    (["report", "--force", "--html"], "not a regular file"),
    (["export", "--force", "--format", "pprof", "--output"], "not a regular file"),
    (["export", "--force", "--format", "sqlite", "--output"], "not a regular file")], ids=str)
def test_a_runs_report_and_export_leave_it_what_it_is(special, recorded, option, sentence):
    trace, = recorded["steady"].folder.glob("*.mtrace")
    command, *rest = option
    done = _emptied(special, runs.memtrace(), command, trace, *rest, special.path)
    assert special.is_as_it_was(), done.stderr
    assert (done.returncode == 0) == (sentence is None)
    if sentence:
        said, = [line for line in done.stderr.splitlines() if str(special.path) in line]
        assert sentence in said
