# SPDX-License-Identifier: Apache-2.0
"""How many instructions of libmemtrace.so an event takes, and in which functions: counted by
callgrind, so the same whatever else the machine does. With --compare: how many more instructions
the whole process takes for an event, by way of recording; what PyTorch and CPython execute because
they were asked something is in that.

An event is an allocation or its free: of the loop of loops.py at 15 Python frames, and of a
training step, where the agent's and autograd's part is in the figure. Only threads that events come
from count: what the sampler and the watching process execute depends on how long the run takes and on
how many processes the machine has.
Usage: instructions.py [--way WAY | --compare] [loop|step]
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import recording

DEPTH = 15
PROGRAMS = ("loop", "step")


def profile(program: str, way: str) -> tuple[list[str], int]:
    """callgrind's profiles of a run, one a thread, and how many events there were while it counted."""
    traced, environment, arguments = recording.WAYS[way]
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/callgrind.out"
        # loops.py switches it on when all is warm: to import torch under it takes minutes.
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes"]
        valgrind.append(f"--callgrind-out-file={out}")
        # valgrind stands where a program would name the Python whose PyTorch it uses.
        packages = ("--site-packages", str(next(Path(sys.prefix).glob("lib/python*/site-packages"))))
        command = recording.command(traced, folder, packages)
        command += [*valgrind, sys.executable, recording.LOOPS, "--count", program, "--depths", str(DEPTH), *arguments]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        events = re.search(r"^EVENTS (\d+)$", run.stdout, re.M)
        if events is None or not os.path.exists(out):
            sys.exit(f"memtrace bench: no profile; the program said:\n{run.stderr}")
        threads = sorted(Path(folder).glob(f"{Path(out).name}-*"))
        return [thread.read_text() for thread in threads], int(events.group(1))


def self_costs(profile_text: str) -> dict[tuple[str, str], int]:
    """Instructions by (object, function), each function's own."""
    names: dict[tuple[str, str], str] = {}
    costs: collections.Counter = collections.Counter()
    library = function = ""
    calls = False
    for line in profile_text.splitlines():
        found = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?$", line)
        if found:
            called, what, number, name = found.groups()
            if name is not None:
                names[what, number] = name
            if not called and what == "ob":
                library = names[what, number]
            elif not called:
                function = names[what, number]
        elif line.startswith("calls="):
            calls = True  # the next line is what the callee took
        elif re.match(r"[+\-*\d]\S* \d+$", line):
            if not calls:
                costs[library, function] += int(line.split()[1])
            calls = False
    return costs


def measure(program: str, way: str) -> dict[str, float]:
    """Instructions an event, by function of libmemtrace.so."""
    threads, events = profile(program, way)
    sums: collections.Counter = collections.Counter()
    for text in threads:
        of_thread = {name: count for (library, name), count in self_costs(text).items() if "libmemtrace.so" in library}
        if any("on_entry" in name for name in of_thread):
            sums.update(of_thread)
    return {name: count / events for name, count in sums.items()}


def of_the_process(program: str, way: str) -> float:
    """Instructions an event, of everything: what a way of recording makes others do is in it."""
    threads, events = profile(program, way)
    return sum(sum(self_costs(text).values()) for text in threads) / events


def compare(program: str) -> None:
    print(f"instructions added to an event of the {program}, in the whole process\n")
    nothing = of_the_process(program, "nothing")
    print(f"{'nothing':28}{nothing:10.0f}")
    for way in recording.WAYS:
        if way != "nothing":
            print(f"{way:28}{of_the_process(program, way) - nothing:+10.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--way", choices=recording.WAYS, default="memtrace")
    parser.add_argument("--compare", action="store_true", help="all ways, instead of one by function")
    parser.add_argument("program", choices=PROGRAMS, default="loop", nargs="?")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("memtrace bench: valgrind is missing; scripts/setup installs it")
    if options.compare:
        compare(options.program)
        return
    ours = measure(options.program, options.way)
    print(f"{sum(ours.values()):.0f} instructions of libmemtrace.so an event ({options.program}, {options.way})\n")
    for name, each in sorted(ours.items(), key=lambda item: -item[1]):
        if each >= 0.5:
            print(f"{each:8.1f}  {name[:100]}")


if __name__ == "__main__":
    main()
