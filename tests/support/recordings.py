# SPDX-License-Identifier: Apache-2.0
"""Recordings of programs, each made once on this machine and kept by the digest of all that goes into it: the
program with what it can import beside it, libmemtrace.so, the simulator, the interpreter and its torch, arguments,
variables and machine. A change of the analyzer, the page, Python or documents therefore starts no torch again.

MEMTRACE_TEST_CACHE  where they are kept (default: memtrace-tests in XDG_CACHE_HOME, else in ~/.cache)

A program runs from a copy inside of its recording, so that a report finds its source whichever clone recorded it.
Its working directory is `made`: what it writes under a relative name is kept, too.

    found = recordings.record(PROGRAMS / "train.py", "--steps", "4", "--truth", "truth.json")
    found.expect(0).report(); json.loads(found.made("truth.json").read_text())
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import runs
import warm

LIMIT_BYTES = 4 << 30
BUSY_S = 3600  # younger temporary folders are being written, and younger recordings are being read
# Ours decide about nothing that is recorded, or the key has them in other words.
NO_PART = ("PYTEST_", "PYTHONPYCACHEPREFIX", "PWD", "OLDPWD", "SHLVL", "_", "TERM", "COLUMNS", "LINES", "TMPDIR", "PATH",
           "HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "SSH_", "HOSTNAME", "USER", "LOGNAME")


@dataclass(frozen=True)
class Recording:
    folder: Path  # never written by a test: other tests read it at the same time
    program: Path  # the copy that ran, which is what stands in frames
    status: int  # negative: the signal that ended it
    stdout: bytes
    stderr: bytes
    traces: list[Path]

    @property
    def trace(self) -> Path:
        one, = self.traces
        return one

    def made(self, name: str) -> Path:
        """A file that the program wrote."""
        return self.folder / "made" / name

    def expect(self, status: int) -> Recording:
        if self.status != status:
            (self.folder / "outcome.json").unlink(missing_ok=True)  # the next run tries again
        runs.Outcome(self.status, self.stdout, self.stderr).expect(status)
        return self

    def report(self) -> dict:
        """Of all its traces, by the command that is tested; made anew at each call."""
        with tempfile.TemporaryDirectory() as scratch:
            return runs.report(self.traces, Path(scratch))


def record(program: Path, *arguments: object, gpu: str = runs.GPU, memory: str | None = None, devices: int = 1,
           env: dict[str, str] | None = None, cold: bool = False, bare: bool = False, beside: tuple[Path, ...] = (),
           imports: tuple[str, ...] = (), timeout: float = 300) -> Recording:
    """The recording of the program, from the cache or made now.

    cold    the interpreter starts anew; else it is forked from one that has imported torch (warm.py)
    bare    without memtrace: what it prints and writes is kept
    beside  further folders that it imports from: they become its PYTHONPATH, as copies
    imports what the server of warm programs imports besides torch
    """
    words = [str(one) for one in arguments]
    sources = [(program.parent, sources_of(program, program.parent))]
    sources += [(one, sources_of(program, one, all_of_it=True)) for one in beside]
    facts = {
        "format": 1, "program": program.name, "sources": [digest_of(files, one) for one, files in sources],
        "arguments": words, "machine": [gpu, memory, devices], "cold": cold, "bare": bare,
        "build": digest_of_build(runs.build()), "python": version_of_python(runs.python()),
        "environment": sorted(environment_of_key(env).items()),
    }
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
    folder = root() / key
    if not (folder / "outcome.json").exists():
        make(folder, program, words, sources, facts, cold, bare, imports, timeout,
             dict(gpu=gpu, memory=memory, devices=devices, env=env))
        drop_oldest_now_and_then()
    os.utime(folder)  # what was used last is dropped last
    return load(folder, program.name)


def load(folder: Path, name: str) -> Recording:
    outcome = json.loads((folder / "outcome.json").read_text())
    return Recording(folder, folder / "source" / "0" / name, outcome["status"], (folder / "stdout").read_bytes(),
                     (folder / "stderr").read_bytes(), runs.traces_in(folder / "traces"))


def make(folder: Path, program: Path, words: list[str], sources: list[tuple[Path, dict]], facts: dict, cold: bool,
         bare: bool, imports: tuple[str, ...], timeout: float, how: dict) -> None:
    """Paths of the recording stand in its frames: it is made where it stays, and finished by its outcome.json."""
    with held(folder.with_suffix(".lock")):
        if (folder / "outcome.json").exists():
            return  # another worker made it meanwhile
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "made").mkdir(parents=True)
        copies = []
        for number, (one, files) in enumerate(sources):
            copies.append(folder / "source" / str(number))
            for source, content in files.items():
                to = copies[-1] / source.relative_to(one)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(content)
        env = dict(how.pop("env") or {})
        if copies[1:]:
            env["PYTHONPATH"] = os.pathsep.join(map(str, [*copies[1:], *filter(None, [env.get("PYTHONPATH")])]))
        command = [runs.python(), copies[0] / program.name, *words]
        output = None if bare else folder / "traces"
        if cold:
            done = runs.run(command, output, timeout, cwd=folder / "made", env=env, **how)
        else:
            done = warm.run(command, output, timeout, cwd=folder / "made", env=env, imports=imports, **how)
        (folder / "stdout").write_bytes(done.stdout)
        (folder / "stderr").write_bytes(done.stderr)
        (folder / "facts.json").write_text(json.dumps(facts, indent=1))
        unfinished = folder / "outcome.json.new"
        unfinished.write_text(json.dumps({"status": done.status}))
        unfinished.rename(folder / "outcome.json")


@contextlib.contextmanager
def held(path: Path):
    """A lock between the processes of this machine; it ends with its holder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def root() -> Path:
    chosen = os.environ.get("MEMTRACE_TEST_CACHE")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen).absolute() if chosen else caches / "memtrace-tests"


@functools.cache
def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"}


def sources_of(program: Path, folder: Path, all_of_it: bool = False) -> dict[Path, bytes]:
    """The program and the files of the folder whose names occur in it, or in one of those: by no import statement
    alone, as a name may stand in a string. The others change nothing, and a change of them records nothing anew."""
    files = files_in(folder)
    if all_of_it:
        return files
    found = {program: files[program]}
    to_read = [program]
    while to_read:
        words = set(re.findall(rb"\w+", files[to_read.pop()]))
        for path in files.keys() - found.keys():
            names = [part.split(".")[0].encode() for part in path.relative_to(folder).parts if part != "__init__.py"]
            if any(name in words for name in names):
                found[path] = files[path]
                to_read.append(path)
    return dict(sorted(found.items()))


def digest_of(sources: dict[Path, bytes], folder: Path) -> str:
    found = hashlib.sha256()
    for path, content in sources.items():
        found.update(f"{path.relative_to(folder)} {len(content)}\n".encode() + content)
    return found.hexdigest()


@functools.cache
def digest_of_build(build: Path) -> str:
    """Of the code that records and simulates. Names of the folder that it was compiled in stand in the parts that
    are left out alone: a clone elsewhere on this machine has the same digest."""
    libraries = [build / "libmemtrace.so", *sorted((build / "simulator").rglob("*.so*"))]
    found = hashlib.sha256()
    with tempfile.TemporaryDirectory() as scratch:
        for library in libraries:
            code = Path(scratch) / library.name
            subprocess.run(["strip", "--strip-all", "--remove-section=.note.gnu.build-id", "-o", code, library],
                           check=True)
            found.update(f"{library.relative_to(build)}\n".encode() + code.read_bytes())
    return found.hexdigest()


@functools.cache
def version_of_python(python: str) -> str:
    """Interpreter and the installed packages, by name and version."""
    asked = "import sys, sysconfig, os; print(sys.version); print(*sorted(os.listdir(sysconfig.get_path('purelib'))))"
    return subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout


def environment_of_key(extra: dict[str, str] | None) -> dict[str, str]:
    return {name: value for name, value in runs.environment(extra).items()
            if name in (extra or {}) or warm.is_at_start(name, value) and not name.startswith(NO_PART)}


count_of_made = 0


def drop_oldest_now_and_then() -> None:
    """Looking at all that is kept takes a moment."""
    global count_of_made
    if count_of_made % 50 == 0:
        drop_oldest()
    count_of_made += 1


def drop_oldest() -> None:
    sizes = []
    for folder in root().iterdir():
        if folder.is_dir():
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            sizes.append((folder.stat().st_mtime, size, folder))
    total = sum(size for _, size, _ in sizes)
    for used, size, folder in sorted(sizes):
        if total <= LIMIT_BYTES or time.time() - used < BUSY_S:
            break
        shutil.rmtree(folder, ignore_errors=True)
        total -= size


def main() -> None:
    """Says what is kept: python recordings.py"""
    for outcome in sorted(root().glob("*/facts.json")):
        facts = json.loads(outcome.read_text())
        print(outcome.parent.name, facts["program"], *facts["arguments"])


if __name__ == "__main__":
    sys.exit(main())
