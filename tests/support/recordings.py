# SPDX-License-Identifier: Apache-2.0
"""Recordings of programs, each made once on this machine and kept by the digest of all that goes into it: the
program with what it can import beside it, libmemtrace.so, the simulator, the interpreter and its torch, arguments,
variables and machine. A change of the analyzer, the page, Python or documents therefore starts no torch again.

MEMTRACE_TEST_CACHE  where they are kept (default: memtrace-tests in XDG_CACHE_HOME, else in ~/.cache)

A program runs from a copy inside of its recording, so that a report finds its source whichever clone recorded it.
Its working directory is `made`: what it writes under a relative name is kept, too.

    found = recordings.record(PROGRAMS / "train.py", "--steps", "4", "--truth", "truth.json")
    found.expect(0).report(); json.loads(found.made("truth.json").read_text())

`run` does the same for a test that wants the traces in a folder of its own.
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
NO_ATTRIBUTE = rb"(?<![\w)\]]\.)\b\w+"  # a word that may name a file: not the `train` of `model.train()`
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
    copies: dict[Path, Path]  # of the folders of its sources

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
        """The report on all its traces, by the command that is tested; made anew at each call."""
        with tempfile.TemporaryDirectory() as scratch:
            return runs.report(self.traces, Path(scratch))


def record(program: Path, *arguments: object, **how) -> Recording:
    """The recording of a Python program, from the cache or made now; how: see of_command."""
    return of_command([runs.python(), program, *arguments], **how)


def of_command(command: list, *, gpu: str = runs.GPU, memory: str | None = None, devices: int = 1,
               env: dict[str, str] | None = None, cold: bool = False, bare: bool = False,
               imports: tuple[str, ...] = (), timeout: float = 600, again: int = 0) -> Recording:
    """The recording of a command. Paths in it, and in PYTHONPATH, are those of files and folders of the tests, which
    become copies, or of files that it writes, which come into `made` under the same name.

    cold     the interpreter starts anew; else it is forked from one that has imported torch, where it can (warm.py)
    bare     without memtrace: what it prints and writes is kept
    imports  what the server of warm programs imports besides torch
    again    another run of the same, for a test that compares two
    """
    plan = Plan([runs.python(), *command[1:]] if command[0] == runs.python() else command, dict(env or {}))
    facts = {
        "format": 3, "words": plan.words, "sources": plan.digests(), "machine": [gpu, memory, devices],
        "how": [cold, bare, again], "build": digest_of_build(runs.build(), bare),
        "python": version_of_python(runs.python()), "environment": sorted(environment_of_key(plan.env).items()),
    }
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
    folder = root() / key
    with held(folder.with_suffix(".lock")):  # another worker may be making it
        if not (folder / "outcome.json").exists():
            make(folder, plan, facts, warm_run=not cold, timeout=timeout, imports=imports,
                 output=None if bare else folder / "traces", machine=dict(gpu=gpu, memory=memory, devices=devices))
    os.utime(folder)  # what was used last is dropped last
    return load(folder, plan)


def run(command: list, output: Path | None, timeout: float = 600, **how) -> runs.Outcome:
    """As runs.run: the recording's traces, and the files that the command names, are copied to where it wants them."""
    if runs.on_real_gpu():
        how.pop("imports", None)
        return runs.run(command, output, timeout, **how)
    found = of_command(command, bare=output is None, timeout=timeout, **how)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for trace in found.traces:
            shutil.copy2(trace, output)
    for path in (Path(str(word)) for word in command[1:] if is_written(str(word))):
        # Ranks write their own beside it: truth.0.json for truth.json.
        for made in (found.made(path.name), *found.made("").glob(f"{path.stem}.*{path.suffix}")):
            to = path.with_name(made.name)
            if made.exists():
                shutil.copytree(made, to, dirs_exist_ok=True) if made.is_dir() else shutil.copy2(made, to)
    return runs.Outcome(found.status, found.stdout, found.stderr, runs.traces_in(output) if output else [],
                        found.copies)


def run_each(program: Path, names: list[str], folder: Path, **how) -> None:
    """`program FOLDER NAME` for each name, a recording of its own: folder gets what it writes, and NAME.mtrace."""
    for name in names:
        trace, = run([runs.python(), program, folder, name], folder / "traces" / name, **how).expect(0).traces
        trace.rename(folder / f"{name}.mtrace")


def is_of_tests(path: str) -> bool:
    return path.startswith(f"{runs.ROOT}/") and not path.startswith(f"{runs.ROOT}/build/") and (
        os.path.exists(path)) and "/.venv" not in path


def is_in_scratch(word: str) -> bool:
    ours = (runs.ROOT, runs.build(), root())
    return word.startswith(f"{tempfile.gettempdir()}/") and not any(word.startswith(f"{one}/") for one in ours)


def is_written(word: str) -> bool:
    """A file that is to be, or a folder, of the test that runs the command."""
    return is_in_scratch(word) and not os.path.isfile(word)


class Plan:
    """A command with its sources: {0} to {9} in its words and variables stand for the folders of their copies."""

    def __init__(self, command: list, env: dict[str, str]):
        self.sources: dict[Path, dict[Path, bytes]] = {}  # of each folder, the files that are needed
        self.folders = [Path(one).name for one in map(str, command) if is_written(one) and os.path.isdir(one)]
        self.programs: list[Path] = []
        self.words = [self.word(str(one)) for one in command]
        self.add_what_programs_name()
        search = env.get("PYTHONPATH", "").split(os.pathsep)
        self.env = {name: value for name, value in env.items() if name != "PYTHONPATH"}
        if any(search):
            self.env["PYTHONPATH"] = os.pathsep.join(map(self.folder_to_search, search))
        for name, value in self.env.items():
            assert not is_in_scratch(value), f"{name} names a folder of this run alone: it would never be found again"

    def placeholder(self, folder: Path) -> str:
        return "{%d}" % list(self.sources).index(folder)

    def word(self, word: str) -> str:
        if is_written(word):
            return Path(word).name
        if word == runs.python() or not is_of_tests(word) and not is_in_scratch(word):
            return word
        path = Path(word)
        self.sources.setdefault(path.parent, {})[path] = path.read_bytes()
        if not is_in_scratch(word):
            self.programs.append(path)
        return f"{self.placeholder(path.parent)}/{path.name}"

    def add_what_programs_name(self) -> None:
        """One that runs another, as `collect.py OUT PROGRAM` does, may need what is beside the other one."""
        for path in needed_by(self.programs, {one.parent for one in self.programs}):
            folder = max((one for one in self.sources if path.is_relative_to(one)), key=lambda one: len(one.parts))
            self.sources[folder][path] = path.read_bytes()

    def folder_to_search(self, folder: str) -> str:
        if not is_of_tests(folder):
            return folder
        self.sources[Path(folder)] = files_in(Path(folder))
        return self.placeholder(Path(folder))

    def digests(self) -> list[str]:
        return [digest_of(dict(sorted(files.items())), folder) for folder, files in self.sources.items()]

    def write_sources(self, to: Path) -> None:
        for folder, files in self.sources.items():
            for source, content in files.items():
                copy = Path(self.filled(self.placeholder(folder), to)) / source.relative_to(folder)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)

    def filled(self, text: str, folder: Path) -> str:
        names = [one.name for one in self.sources]
        return re.sub(r"(?:^|(?<=:))\{(\d)\}(?=[/:]|$)",
                      lambda found: str(folder / "source" / found[1] / names[int(found[1])]), text)

    def command_in(self, folder: Path) -> list[str]:
        return [self.filled(word, folder) for word in self.words]

    def env_in(self, folder: Path) -> dict[str, str]:
        return {name: self.filled(value, folder) for name, value in self.env.items()}


def load(folder: Path, plan: Plan) -> Recording:
    outcome = json.loads((folder / "outcome.json").read_text())
    program = next((word for word in plan.command_in(folder) if word.endswith(".py")), "")
    return Recording(folder, Path(program), outcome["status"], (folder / "stdout").read_bytes(),
                     (folder / "stderr").read_bytes(), runs.traces_in(folder / "traces"),
                     {one: Path(plan.filled(plan.placeholder(one), folder)) for one in plan.sources})


def make(folder: Path, plan: Plan, facts: dict, warm_run: bool, timeout: float, imports: tuple[str, ...],
         output: Path | None, machine: dict) -> None:
    """Paths of the recording stand in its frames: it is made where it stays, and finished by its outcome.json."""
    drop_oldest_now_and_then()
    shutil.rmtree(folder, ignore_errors=True)
    for made in ("", *plan.folders):
        (folder / "made" / made).mkdir(parents=True)
    plan.write_sources(folder)
    how = dict(cwd=folder / "made", env=plan.env_in(folder), **machine)
    if warm_run:
        done = warm.run(plan.command_in(folder), output, timeout, imports=imports, **how)
    else:
        done = runs.run(plan.command_in(folder), output, timeout, **how)
    # The newest records of a program that was killed, or left by os._exit(), are in memory until somebody reads the trace:
    # a copy of it has none of them. Such a trace is still as long as its pages.
    for trace in runs.traces_in(output) if output is not None else []:
        if done.status < 0 or trace.stat().st_size % 4096 == 0:
            subprocess.run([runs.memtrace(), "dump", trace], stdout=subprocess.DEVNULL, check=False)
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


def sources_of(program: Path, folder: Path) -> dict[Path, bytes]:
    """The program and the files of the folder whose names occur in it, or in one of those: by no import statement
    alone, as a name may stand in a string. The others change nothing, and a change of them records nothing anew."""
    return needed_by([program], {folder})


def needed_by(programs: list[Path], folders: set[Path]) -> dict[Path, bytes]:
    files, names = {}, {}
    for folder in folders:
        files |= files_in(folder)
        names |= {path: {part.split(".")[0].encode() for part in path.relative_to(folder).parts if part != "__init__.py"}
                  for path in files_in(folder)}
    found = {program: files[program] for program in programs}
    to_read = list(programs)
    while to_read:
        words = set(re.findall(NO_ATTRIBUTE, files[to_read.pop()]))
        for path in files.keys() - found.keys():
            if names[path] & words:
                found[path] = files[path]
                to_read.append(path)
    return dict(sorted(found.items()))


def digest_of(sources: dict[Path, bytes], folder: Path) -> str:
    found = hashlib.sha256()
    for path, content in sources.items():
        found.update(f"{path.relative_to(folder)} {len(content)}\n".encode() + content)
    return found.hexdigest()


@functools.cache
def digest_of_build(build: Path, bare: bool) -> str:
    """The code that simulates and, unless bare, records. Names of the folder that it was compiled in stand only in
    the parts that are left out: a clone elsewhere on this machine has the same digest."""
    libraries = ([] if bare else [build / "libmemtrace.so"]) + sorted((build / "simulator").rglob("*.so*"))
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
            with contextlib.suppress(FileNotFoundError):  # one that is being made
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
        print(outcome.parent.name, *facts["words"][1:])


if __name__ == "__main__":
    sys.exit(main())
