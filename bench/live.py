# SPDX-License-Identifier: Apache-2.0
"""The cost of memtrace live to the training that it watches: the same recorded training with and
without it, in turns, and what live itself uses. One dry run after the other, on the same machine.

live.py [ROUNDS [STEPS]]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("MEMTRACE_BUILD", ROOT / "build" / "release"))

TRAINING = """
import sys, time, torch
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(8)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
def step():
    model(torch.randn(32, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
for _ in range(20):
    step()
began, used = time.perf_counter(), time.process_time()
for _ in range(int(sys.argv[1])):
    step()
print("RESULT", time.perf_counter() - began, time.process_time() - used)
"""


def train(steps: int, watched: bool) -> dict:
    memtrace = str(BUILD / "memtrace")
    with tempfile.TemporaryDirectory() as output:
        program = subprocess.Popen(
            [memtrace, "dry-run", "--gpu", "rtx3090", "--no-report", "--output", output, "--",
             sys.executable, "-c", TRAINING, str(steps)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watching = None
        if watched:
            while program.poll() is None and not list(Path(output).glob("*.mtrace")):
                time.sleep(0.05)
            watching = subprocess.Popen([memtrace, "live", output], stdout=subprocess.DEVNULL,
                                        stdin=subprocess.DEVNULL)
        printed, complaint = program.communicate()
        for line in printed.splitlines():
            if line.startswith("RESULT "):
                wall, processor = (float(word) for word in line.split()[1:])
                break
        else:
            sys.exit(f"memtrace bench: no result; the program said:\n{complaint}")
        found = {"wall": wall, "processor": processor}
        if watching:
            _, _, used = os.wait4(watching.pid, 0)
            found["live"] = (used.ru_utime + used.ru_stime) / wall
            found["live_memory"] = used.ru_maxrss * 1024
        return found


def main(rounds: int, steps: int) -> None:
    taken = {False: [], True: []}
    for number in range(rounds):
        # First one, then the other goes first.
        for watched in ((False, True) if number % 2 == 0 else (True, False)):
            taken[watched].append(train(steps, watched))
    print(f"{rounds} rounds of {steps} steps, {os.cpu_count()} cores; medians, and the least to the most")
    for name in ("wall", "processor"):
        ratios = [b[name] / a[name] for a, b in zip(taken[False], taken[True])]
        print(f"| the training's {name} time, watched / not watched | {statistics.median(ratios):.3f} "
              f"| {min(ratios):.3f} to {max(ratios):.3f} |")
        alone = [one[name] for one in taken[False]]
        middle = statistics.median(alone)
        print(f"| the same of one that is not watched / their median | 1 "
              f"| {min(alone) / middle:.3f} to {max(alone) / middle:.3f} |")
    shares = [one["live"] for one in taken[True]]
    print(f"| live's own processor time, of a core | {statistics.median(shares):.3f} "
          f"| {min(shares):.3f} to {max(shares):.3f} |")
    print(f"| live's memory, MiB | {statistics.median(o['live_memory'] for o in taken[True]) / 2**20:.0f} | |")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:3])) if len(sys.argv) > 2 else main(5, 1500)
