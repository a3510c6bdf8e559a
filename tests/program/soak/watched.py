# SPDX-License-Identifier: Apache-2.0
"""A long run of program.py, and what it holds, seen from outside every so often."""

import os
import re
import struct
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import runs

PROGRAM = Path(__file__).resolve().parent / "program.py"


@dataclass
class Sample:
    at_s: float
    cycle: int
    anonymous: int  # bytes: RssAnon, what no file backs
    file_backed: int  # RssFile and RssShmem: libraries, and what of the trace is mapped
    descriptors: int
    threads: int
    trace_bytes: int  # of the main process, with what every trace begins with


@dataclass
class Run:
    """One way, bare or traced."""

    process: subprocess.Popen
    said: Path
    errors: Path
    output: Path | None
    samples: list[Sample] = field(default_factory=list)

    def lines(self) -> list[str]:
        return self.said.read_text().splitlines()

    def cycles(self) -> list[str]:
        return [line for line in self.lines() if line.startswith("cycle ")]

    def pid(self) -> int | None:
        """The process id of the program itself, which the launcher may have started."""
        return next((int(line.split()[1]) for line in self.lines() if line.startswith("process ")), None)

    def trace(self) -> Path | None:
        return next(self.output.glob(f"*.{self.pid()}.mtrace"), None) if self.output else None

    def sample(self, at_s: float) -> None:
        pid = self.pid()
        if pid is None or self.process.poll() is not None:
            return
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            held = len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            return  # it has just ended
        memory = {name: int(value) << 10 for name, value in re.findall(r"Rss(\w+):\s+(\d+) kB", status)}
        if not memory:
            return  # it has ended, and nobody has asked how yet
        trace = self.trace()
        self.samples.append(Sample(
            round(at_s, 1), len(self.cycles()), memory["Anon"], memory["File"] + memory["Shmem"], held,
            int(re.search(r"Threads:\s+(\d+)", status)[1]), trace.stat().st_size if trace else 0))


def begin(seconds: float, period: float, folder: Path, traced: bool) -> Run:
    folder.mkdir(parents=True)
    output = folder / "trace" if traced else None
    line, variables = runs.command_line(
        [runs.python(), str(PROGRAM), str(seconds), str(period), str(folder)], output)
    with open(folder / "said", "wb") as said, open(folder / "errors", "wb") as errors:
        # Two threads of arithmetic would wait for each other on a busy machine.
        env = runs.environment({**variables, "OMP_NUM_THREADS": "1"})
        process = subprocess.Popen(line, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=errors)
    return Run(process, folder / "said", folder / "errors", output)


def fixed_bytes(trace: Path) -> int:
    """The size of each trace's beginning, whatever is recorded (memtrace/trace_format.h)."""
    with open(trace, "rb") as file:
        header_bytes, slot_bytes, slots = struct.unpack("<III", file.read(24)[12:])
    return header_bytes + slot_bytes * slots


def observe(seconds: float, every: float, period: float) -> dict:
    """Both ways side by side; what was seen, and what the trace has at the end."""
    with tempfile.TemporaryDirectory() as folder:
        ways = {name: begin(seconds, period, Path(folder) / name, name == "traced")
                for name in ("bare", "traced")}
        began, due = time.monotonic(), every
        while any(one.process.poll() is None for one in ways.values()):
            time.sleep(min(0.5, every))
            passed = time.monotonic() - began
            if passed >= due:
                due += every
                for one in ways.values():
                    one.sample(passed)
            if passed > 2 * seconds + 600:
                for one in ways.values():
                    one.process.kill()
        found = {name: {"status": one.process.wait(), "cycles": one.cycles(),
                        "over": "over" in one.lines(), "samples": [asdict(each) for each in one.samples],
                        "errors": one.errors.read_text(errors="replace")[-2000:]}
                 for name, one in ways.items()}
        trace = ways["traced"].trace()
        traces = runs.traces_in(ways["traced"].output)
        completeness = runs.report([trace], Path(folder))["completeness"]
        found["trace"] = {
            "files": len(traces), "bytes": trace.stat().st_size, "fixed_bytes": fixed_bytes(trace),
            "events": completeness["events"], "dropped": completeness["dropped_events"],
            "clean_exit": completeness["clean_exit"], **counted_in(trace)}
        for one in traces:
            runs.report([one], Path(folder))
        return found


def counted_in(trace: Path) -> dict[str, int]:
    """Line by line: the dump of a long run is far larger than its trace."""
    command = [str(runs.memtrace()), "dump", "--no-stacks", str(trace)]
    counts = {"alloc": 0, "free_requested": 0, "oom": 0}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=runs.environment()) as dump:
        for line in dump.stdout:
            kind = re.search(r'"kind":"(\w+)"', line)
            if kind and kind[1] in counts:
                counts[kind[1]] += 1
    assert dump.returncode == 0
    return counts
