# SPDX-License-Identifier: Apache-2.0
"""Bytes an event on disk for a thousand training steps, and the speed and memory of the report."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from recording import BUILD, ROOT, command


def peak_memory_and_seconds(arguments: list[str], **environment: str) -> tuple[int, float]:
    start = time.perf_counter()
    process = subprocess.Popen(arguments, env={**os.environ, **environment},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"memtrace bench: {' '.join(arguments)} failed with status {status}")
    return usage.ru_maxrss * 1024, time.perf_counter() - start


def measure(steps: int, lengths: str) -> None:
    with tempfile.TemporaryDirectory() as output:
        program = [sys.executable, str(ROOT / "bench" / "many_steps.py"), str(steps), lengths]
        subprocess.run([*command(True, output), *program], check=True, capture_output=True)
        (trace,) = Path(output).glob("*.mtrace")
        on_disk = trace.stat().st_blocks * 512
        report = Path(output) / "report.json"
        arguments = [str(BUILD / "memtrace"), "report", str(trace), "--json", str(report)]
        memory, seconds = peak_memory_and_seconds(arguments)
        events = json.loads(report.read_text())["completeness"]["events"]
        empty, _ = peak_memory_and_seconds([str(BUILD / "memtrace"), "--help"])
        print(f"{steps} steps, {lengths} lengths: {events} events, {on_disk} bytes on disk")
        print(f"  {on_disk / events:.2f} bytes an event on disk")
        print(f"  memtrace report: {events / seconds / 1e6:.1f} M events/s ({seconds:.2f} s)")
        print(f"  peak memory {memory / 2**20:.0f} MiB; memtrace --help alone {empty / 2**20:.0f} MiB")


if __name__ == "__main__":
    for lengths in ("fixed", "variable"):
        measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, lengths)
