# SPDX-License-Identifier: Apache-2.0
"""memtrace attach PID: memtrace.start() and memtrace.stop() in a process that runs already, by what CPython 3.14 and
later have for debuggers (PEP 768)."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from memtrace import _tool

_PACKAGES = Path(__file__).resolve().parents[1]

# Runs in that process, at a moment when its main thread may run Python.
_SCRIPT = """
def attach(packages, command, call, arguments, answer):
    import json, os, sys
    os.environ.setdefault("MEMTRACE_COMMAND", command)
    sys.path.insert(0, packages)
    try:
        import memtrace
        said = {{"was": memtrace.is_active(), "trace": getattr(memtrace, call)(*arguments)}}
    except Exception as error:
        said = {{"error": f"{{type(error).__name__}}: {{error}}"}}
    finally:
        sys.path.remove(packages)
    with open(answer + ".part", "w") as file:
        json.dump(said, file)
    os.rename(answer + ".part", answer)


attach({packages!r}, {command!r}, {call!r}, {arguments!r}, {answer!r})
"""


def main(arguments: list[str], program: Path) -> None:
    """`program` is the native command."""
    parser = argparse.ArgumentParser(
        prog="memtrace attach", description="Records a process that runs already: its Python must be 3.14 or later. What "
        "it has on the GPU by then is in the trace without the lines that allocated it.")
    parser.add_argument("pid", type=int, help="its process id")
    parser.add_argument("--output", help="directory for the trace (default: this one)")
    how_long = parser.add_mutually_exclusive_group()
    how_long.add_argument("--seconds", type=float, help="end the recording after so many; default: it goes on")
    how_long.add_argument("--detach", action="store_true", help="end the recording that goes on; the process runs on")
    chosen = parser.parse_args(arguments)
    if chosen.seconds is not None and not 0 < chosen.seconds < threading.TIMEOUT_MAX:
        parser.error("--seconds must be a number above 0")
    interpreter = _interpreter_of(chosen.pid)
    if not chosen.detach:
        output = os.path.abspath(chosen.output or os.getcwd())
        _call(chosen.pid, interpreter, program, "start", [output])
        print(f"memtrace: process {chosen.pid} is recorded, its trace comes into {output}; memtrace attach {chosen.pid} "
              "--detach ends that", file=sys.stderr)
        if chosen.seconds is None:
            return
        try:
            time.sleep(chosen.seconds)
        except KeyboardInterrupt:  # enough: the recording ends here
            pass
    said = _call(chosen.pid, interpreter, program, "stop", [])
    if said["trace"] is None:
        sys.exit(f"memtrace: process {chosen.pid} has no recording" + ("" if not said["was"] else ": it did not use CUDA"))
    print(f"memtrace: {said['trace']} is whole; next: memtrace report {said['trace']}", file=sys.stderr)


def _interpreter_of(pid: int) -> str:
    """The program that the process runs, which must be a Python that can be asked. Ends with a sentence otherwise."""
    try:
        file = os.readlink(f"/proc/{pid}/exe")
    except FileNotFoundError:
        sys.exit(f"memtrace: there is no process {pid}")
    except PermissionError:
        sys.exit(f"memtrace: process {pid} belongs to somebody else; run memtrace attach as its user, or as root")
    if not re.match(r"(python|pypy)", os.path.basename(file)):
        sys.exit(f"memtrace: process {pid} runs {file}, which is no Python; start it with memtrace run")
    asked = subprocess.run([file, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2], hasattr(sys, 'remote_exec'))"],
                           capture_output=True, text=True, check=False)
    version, _, can = asked.stdout.strip().partition(" ")
    if asked.returncode != 0:
        sys.exit(f"memtrace: {file} of process {pid} cannot be run here; attach where the process can be seen with its files")
    if can != "True":
        sys.exit(f"memtrace: process {pid} runs Python {version}, which nobody outside can ask (3.14 and later can be); call "
                 "memtrace.start() in the program, or start it with memtrace run")
    return file


def _call(pid: int, interpreter: str, program: Path, call: str, arguments: list) -> dict:
    """What the function of the package returned in that process."""
    folder = Path(tempfile.mkdtemp(prefix="memtrace-attach-"))
    script, answer = folder / "script.py", folder / "answer"
    script.write_text(_SCRIPT.format(packages=str(_PACKAGES), command=str(program), call=call, arguments=arguments,
                                     answer=str(answer)))
    owner = os.stat(f"/proc/{pid}")
    for path in (folder, script):
        if owner.st_uid != os.getuid():
            os.chown(path, owner.st_uid, owner.st_gid)
    asked = subprocess.run([interpreter, "-I", "-c", "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])", str(pid),
                            str(script)], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        sys.exit(f"memtrace: process {pid} cannot be asked ({_tool._sentence(asked.stderr)}); needed are the right to trace it (as "
                 "its user, and root or CAP_SYS_PTRACE where /proc/sys/kernel/yama/ptrace_scope is not 0), and a Python "
                 "that was not started with PYTHON_DISABLE_REMOTE_DEBUG")
    patience = time.monotonic() + 60
    while not answer.exists():
        if not os.path.exists(f"/proc/{pid}"):
            sys.exit(f"memtrace: process {pid} has ended meanwhile")
        if time.monotonic() > patience:  # the script stays, for it will run
            sys.exit(f"memtrace: process {pid} has run no Python for a minute; what was asked happens as soon as it does")
        time.sleep(0.02)
    said = json.loads(answer.read_text())
    for path in (script, answer):
        path.unlink()
    folder.rmdir()
    if "error" in said:
        sys.exit(f"memtrace: process {pid} is not recorded: {said['error']}")
    return said
