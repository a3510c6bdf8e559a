# SPDX-License-Identifier: Apache-2.0
"""Runs a Python program as runs.run does, in a process forked from one that has imported torch already.

Importing is most of the time that a small program takes. There is a server for each interpreter and each set of
variables that something reads while it is loaded; this process has its own, which end with it. What cannot be
forked (no Python program, another interpreter, a real GPU) starts cold.

A warm run differs from a cold one in its start alone: torch is imported, Python's hashes are those of the
server, addresses are others, and memtrace says nothing on the standard error."""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import runs

SERVER = Path(__file__).resolve().parent / "warm_server"
PLACEHOLDER = "/memtrace-warm-start/program.py"
IMPORTS = ("torch", "torch._dynamo")  # the second is what optimizers import
# Read while something is loaded: a server for each of their values.
AT_START = re.compile(
    r"MEMTRACE(?!_SIM_(GPU|MEMORY|DEVICES|CONSTANTS|SESSION)$)|PYTHON(?!PATH$)|LD_|LANG|LC_|TORCH|OMP_|MKL_|KMP_|"
    r"OPENBLAS_|MALLOC_|GLIBC_|NVTX_|CUPTI|TRITON|CUDA_(?!VISIBLE_DEVICES$)|HOME$|TMPDIR$|XDG_|PATH$")
AT_ONCE = 4  # servers that are kept, and more only while all of them run something
START_S = 300


def is_at_start(name: str, value: str) -> bool:
    return AT_START.match(name) is not None or name.startswith("PYTORCH_") and "backend" in value


class Server:
    def __init__(self, bare: bool, environment: dict[str, str], imports: tuple[str, ...]):
        self.environment = environment
        self.running = 0  # programs; a server that has one is not stopped
        self.control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.folder = tempfile.TemporaryDirectory(prefix="memtrace-warm-")
        self.errors = tempfile.TemporaryFile()
        line, _ = runs.command_line([runs.python(), PLACEHOLDER], None if bare else Path(self.folder.name))
        own = {"MEMTRACE_WARM_CONTROL": str(other.fileno()), "MEMTRACE_WARM_IMPORTS": " ".join(imports),
               "PYTHONPATH": str(SERVER)}
        self.process = subprocess.Popen(line, env={**environment, **own}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=self.errors, pass_fds=[other.fileno()])
        other.close()

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-6000:]

    def stop(self) -> None:
        self.control.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()


servers: dict[tuple, Server] = {}  # the longest unused first
TABLE = threading.Lock()  # of `servers` and their `running`: threads share both


@atexit.register
def stop_all() -> None:
    while servers:
        servers.popitem()[1].stop()


def server_for(bare: bool, environment: dict[str, str], imports: tuple[str, ...]) -> Server:
    """The caller may run one program on it, and then calls `leave`."""
    at_start = {name: value for name, value in environment.items() if is_at_start(name, value)}
    key = os.getpid(), runs.build(), runs.python(), bare, imports, tuple(sorted(at_start.items()))
    superfluous = []
    with TABLE:
        found = servers.pop(key, None)
        if found is None or found.process.poll() is not None:
            idle = [other for other, server in servers.items() if not server.running]
            superfluous = [servers.pop(other) for other in idle[:max(0, len(servers) - AT_ONCE + 1)]]
            found = Server(bare, {name: value for name, value in environment.items() if name != "PYTHONPATH"}, imports)
        servers[key] = found
        found.running += 1
    for server in superfluous:  # it takes a moment, in which other threads may start theirs
        server.stop()
    return found


def leave(server: Server) -> None:
    with TABLE:
        server.running -= 1


@dataclass
class Started:
    """A program that runs, as a subprocess.Popen would be."""

    server: Server
    status: int  # the pipe that gets its process and its exit status
    stdout: object
    stderr: object
    pid: int = 0

    def line(self, timeout: float) -> int:
        """The next number from the server."""
        poll = select.poll()
        poll.register(self.status, select.POLLIN)
        if not poll.poll(timeout * 1000):
            raise TimeoutError
        text = b""
        while not text.endswith(b"\n"):
            read = os.read(self.status, 1)
            assert read, f"the server of warm programs has ended\n{self.server.said()}"
            text += read
        return int(text)

    def wait(self, timeout: float) -> int:
        try:
            return self.line(timeout)
        except TimeoutError:
            os.kill(self.pid, signal.SIGKILL)
            self.line(60)
            raise AssertionError(f"still running after {timeout} s\n{self.read(self.stderr)[-4000:]}") from None
        finally:
            os.close(self.status)
            leave(self.server)

    @staticmethod
    def read(file) -> bytes:
        file.seek(0)
        return file.read()


@functools.cache
def is_understood(python: str) -> bool:
    """Whether the interpreter has what warm_server builds on."""
    asked = "import ctypes, os, sys; sys.orig_argv, os.pidfd_open, ctypes.pythonapi._Py_GetConfig"
    return subprocess.run([python, "-c", asked], capture_output=True).returncode == 0


def can(command: list, **how) -> bool:
    words = [str(word) for word in command]
    return (not runs.on_real_gpu() and len(words) > 1 and words[0] == runs.python() and words[1].endswith(".py")
            and "MEMTRACE_DISABLE" not in (how.get("env") or {})
            and not how.get("pass_fds") and how.get("preexec_fn") is None and is_understood(words[0]))


def start(command: list, output: Path | None, *, env: dict[str, str] | None = None, cwd: Path | None = None,
          gpu: str = runs.GPU, memory: str | None = None, devices: int = 1,
          imports: tuple[str, ...] = ()) -> Started:
    """`imports`: what the server imports besides torch."""
    wanted = runs.environment(env)
    server = server_for(output is None, wanted, IMPORTS + tuple(imports))
    simulated = {"MEMTRACE_SIM_GPU": gpu, "MEMTRACE_SIM_DEVICES": str(devices)}
    if memory:
        simulated["MEMTRACE_SIM_MEMORY"] = memory
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        simulated["MEMTRACE_OUTPUT"] = str(output.resolve())
    job = {
        "command": [str(word) for word in command],
        "cwd": str(cwd or Path.cwd()),
        "output": simulated.get("MEMTRACE_OUTPUT"),
        "set": {**{name: value for name, value in wanted.items() if server.environment.get(name) != value},
                **simulated},
        "unset": [name for name in server.environment if name not in wanted],
    }
    stdout, stderr = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    receive, send = os.pipe()
    stdin = os.open(os.devnull, os.O_RDONLY)
    try:
        socket.send_fds(server.control, [json.dumps(job).encode()], [stdin, stdout.fileno(), stderr.fileno(), send])
    except OSError as error:
        leave(server)
        raise AssertionError(f"the server of warm programs has ended: {error}\n{server.said()}") from None
    finally:
        os.close(stdin)
        os.close(send)
    started = Started(server, receive, stdout, stderr)
    try:
        started.pid = started.line(START_S)
    except BaseException:
        leave(server)
        raise
    return started


def finish(started: Started, output: Path | None, timeout: float = 300) -> runs.Outcome:
    status = started.wait(timeout)
    stdout, stderr = started.read(started.stdout), started.read(started.stderr)
    return runs.Outcome(status, stdout, stderr, runs.traces_in(output) if output else [])


def run(command: list, output: Path | None, timeout: float = 300, **how) -> runs.Outcome:
    """As runs.run."""
    if not can(command, **how):
        how.pop("imports", None)
        return runs.run(command, output, timeout, **how)
    return finish(start(command, output, **how), output, timeout)
