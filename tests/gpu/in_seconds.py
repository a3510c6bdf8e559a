# SPDX-License-Identifier: Apache-2.0
"""The parts within so many seconds, on a machine that is lent: first those that look at the whole device or at the
clock, one after the other, then the others side by side, and last what of the clock's is left."""

import os
import signal
import subprocess
import sys
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import parts

FIRST = ["sum", "constants", "cost-small"]
LAST = ["cost-medium", "cost-large"]
TO_END = 10  # seconds in which a part that was told to stop does so
LEAST = 20  # seconds; a part is not begun with less
FOR_LAST = 100  # of a run that has three times as much


def run_part(name: str, into: Path, end: float, arguments: list[str]) -> str:
    left = end - time.monotonic()
    if left < LEAST:
        return f"{name}: not begun"
    log = into / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(Path(__file__).with_name("verify.py")), *arguments, "--into", str(into),
               "--part", name, "--minutes", str((left - TO_END) / 60)]
    with open(log, "w") as out, subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True) as running:
        try:
            running.wait(left)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
    lines = [line for line in log.read_text(errors="replace").splitlines() if f") {name}: " in line]
    return lines[-1] if lines else f"{name}: cut off, {log} has its words"


def archive(into: Path) -> Path:
    """One file with all that is there."""
    packed = into / "gpu.tgz"
    with tarfile.open(packed, "w:gz") as file:
        for one in sorted(into.iterdir()):
            if one != packed:
                file.add(one, one.name)
    return packed


def run(seconds: float, into: Path, arguments: list[str]) -> None:
    end = time.monotonic() + seconds
    others = [one.name for one in parts.PARTS if one.name not in FIRST + LAST]

    def say(name: str, until: float) -> None:
        print(run_part(name, into, until, arguments), flush=True)

    for name in FIRST:
        say(name, end)
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as side_by_side:
        until = end - (FOR_LAST if seconds >= 3 * FOR_LAST else 0)
        list(side_by_side.map(lambda name: say(name, until), others))
    for name in LAST:
        say(name, end)
