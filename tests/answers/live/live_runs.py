# SPDX-License-Identifier: Apache-2.0
"""Trainings that are watched while they run, and the command that watches them."""

import contextlib
import json
import queue
import subprocess
import threading
import time
from pathlib import Path

from support import programs, runs

PROGRAM = programs.path("steady_training")


def live(*arguments, cwd=None, env=None) -> subprocess.CompletedProcess:
    line = [str(runs.memtrace()), "live", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, timeout=120,
                          env=runs.environment(env))


def figures(*arguments, cwd=None) -> list[dict]:
    """The figures of each process, as live --once gives them."""
    shown = live("--once", "--json", "-", *arguments, cwd=cwd)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)["processes"]


class Training:
    """One that prints a line of figures a step."""

    def __init__(self, output: Path, steps: int, pause: float, *more: str, env=None):
        self.output = output
        self.process = runs.start([runs.python(), PROGRAM, str(steps), str(pause), *more], output,
                                  env=env)
        self._lines: queue.Queue = queue.Queue()
        self._latest: dict = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put([int(part) for part in line.split()])
        self._lines.put(None)

    def next_step(self) -> dict:
        """Waits for it."""
        line = self._lines.get(timeout=120)
        assert line is not None, self.process.stderr.read().decode()
        return self._take(line)

    def latest_step(self) -> dict:
        """The last of those printed by now, of which there is one at least."""
        if not self._latest:
            self.next_step()
        with contextlib.suppress(queue.Empty):
            while (line := self._lines.get_nowait()) is not None:
                self._take(line)
        return self._latest

    def _take(self, line: list[int]) -> dict:
        self._latest = dict(zip(("step", "allocated", "peak", "reserved"), line))
        return self._latest

    def trace(self) -> Path:
        return runs.traces_in(self.output)[0]

    def pid(self) -> int:
        """The number of the program's own process: the name of its trace says it."""
        return int(self.trace().name.split(".")[-2])

    def end(self):
        self.process.wait(timeout=120)


@contextlib.contextmanager
def training(output: Path, steps: int, pause: float, *more: str, env=None):
    one = Training(output, steps, pause, *more, env=env)
    try:
        yield one
    finally:
        one.process.terminate()  # the command hands it on: killed, it would leave the program behind
        one.process.wait(timeout=60)


class Screen:
    """A terminal of tmux, with a shell in it."""

    def __init__(self, folder: Path, columns: int = 80, rows: int = 24):
        self.socket = str(folder / "tmux")
        self._tmux("new-session", "-d", "-x", str(columns), "-y", str(rows),
                   "env", "PS1=ready>", "LANG=C.UTF-8", "bash", "--norc", "--noprofile")
        self.until("ready>")

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True,
                              text=True, timeout=20)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def press(self, *keys: str):
        self._tmux("send-keys", *keys)

    def resize(self, columns: int, rows: int):
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def lines(self) -> list[str]:
        return self._tmux("capture-pane", "-p").split("\n")[:-1]

    def until(self, text: str, gone: bool = False) -> list[str]:
        """The screen, once it has that text (or once it has it no more)."""
        for _ in range(200):
            lines = self.lines()
            if any(text in line for line in lines) != gone:
                return lines
            time.sleep(0.1)
        raise AssertionError(f"{text!r} never {'went' if gone else 'came'}:\n" + "\n".join(lines))

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, timeout=20)
