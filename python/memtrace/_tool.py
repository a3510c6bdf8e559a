# SPDX-License-Identifier: Apache-2.0
"""Runs the memtrace command, which reads recordings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence

_OURS = re.compile(r"libmemtrace\w*\.so")


class ToolMissing(FileNotFoundError):
    """The memtrace command is not where this package looks for it."""


class ToolFailed(RuntimeError):
    """The memtrace command could not do it; the message is what it said."""

    status = 1  # as subprocess has it: negative, the signal that ended it


def _beside_the_library() -> Optional[Path]:
    """Next to the libmemtrace.so that is in this process, as in a build folder."""
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return None
    found = re.search(r"(/\S.*/)libmemtrace\.so$", maps, re.MULTILINE)
    return Path(found[1]) / "memtrace" if found else None


def find() -> Path:
    """The command: of this package, of the preloaded library, or on PATH."""
    on_path = shutil.which("memtrace")
    named = os.environ.get("MEMTRACE_COMMAND")  # by the command itself, where it asks Python
    for place in (Path(named) if named else None, Path(__file__).resolve().parent / "native" / "memtrace", _beside_the_library(),
                  Path(on_path) if on_path else None):
        if place is not None and os.access(place, os.X_OK):
            return place
    raise ToolMissing("the memtrace command was not found; install memtrace's wheel, or put the folder with "
                      "the command on PATH")


def environment() -> Dict[str, str]:
    """This process's, without what would record the command or give it a simulated GPU."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("MEMTRACE") or name == "MEMTRACE_SUPPRESSIONS"}
    preloaded = re.split(r"[ :]+", kept.pop("LD_PRELOAD", ""))
    others = [one for one in preloaded if one and not _OURS.match(os.path.basename(one))]
    if others:
        kept["LD_PRELOAD"] = ":".join(others)
    return kept


def _sentence(errors: str) -> str:
    lines = [line for line in errors.strip().splitlines() if line]
    last = lines[-1] if lines else "it said nothing"
    return last[len("memtrace: "):] if last.startswith("memtrace: ") else last


def run(arguments: Sequence[object]) -> "subprocess.CompletedProcess[str]":
    """The command's output, once it is done. Raises ToolMissing and ToolFailed."""
    done = subprocess.run([str(find()), *map(str, arguments)], env=environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        failed = ToolFailed(_sentence(done.stderr))
        failed.status = done.returncode
        raise failed
    return done


def lines(arguments: Sequence[object]) -> Iterator[str]:
    """The command's output, line by line while it prints. Raises as run() does."""
    command: List[str] = [str(find()), *map(str, arguments)]
    with subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stdout is not None and process.stderr is not None
        yield from process.stdout
        errors = process.stderr.read()
    if process.returncode != 0:
        raise ToolFailed(_sentence(errors))
