# SPDX-License-Identifier: Apache-2.0
"""The cost of recording: memtrace beside PyTorch's own recorder, on the same loop and the same
training step, all in turn in one run, so that the machine's speed cancels out in the ratios."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("MEMTRACE_BUILD", ROOT / "build" / "release"))
LOOPS = str(ROOT / "bench" / "loops.py")

# name -> (traced by memtrace, environment, arguments of loops.py)
WAYS = {
    "nothing": (False, {}, []),
    "a tracker that does nothing": (False, {}, ["--tracker", str(BUILD / "bench/libmemtrace_empty_tracker.so")]),
    "memtrace, minimal": (True, {"MEMTRACE": "minimal"}, []),
    "memtrace": (True, {}, []),
    "memtrace, full": (True, {"MEMTRACE": "full"}, []),
    "memtrace, no Python stacks": (True, {"MEMTRACE_PYTHON_STACKS": "0"}, []),
    "PyTorch, no stacks": (False, {}, ["--history", "none"]),
    "PyTorch, Python stacks": (False, {}, ["--history", "python"]),
    'PyTorch, stacks="all"': (False, {}, ["--history", "all"]),
}


def has_gpu() -> bool:
    return os.path.exists("/dev/nvidiactl")


def command(traced: bool, output: str, options: tuple[str, ...] = ()) -> list[str]:
    """The words before `python loops.py`: the simulated GPU where there is no real one."""
    memtrace = str(BUILD / "memtrace")
    if has_gpu():
        return [memtrace, "run", "--no-report", "--output", output, *options, "--"] if traced else []
    recording = ["--no-report", "--output", output] if traced else ["--bare"]
    return [memtrace, "dry-run", "--gpu", "rtx3090", *recording, *options, "--"]


def measure(way: str) -> dict:
    traced, environment, arguments = WAYS[way]
    with tempfile.TemporaryDirectory() as output:
        outcome = subprocess.run(
            [*command(traced, output), sys.executable, LOOPS, *arguments],
            env={**os.environ, **environment}, capture_output=True, text=True,
        )
    for line in outcome.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line.removeprefix("RESULT "))
    sys.exit(f"memtrace bench: {way}: no result; the program said:\n{outcome.stderr}")


def main(rounds: int) -> None:
    taken: dict[str, list[dict]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            taken[way].append(measure(way))

    def least(way, pick):
        return min(pick(result) for result in taken[way])

    depths = list(taken["nothing"][0]["loop"])
    print(f"ns added to an event (allocation or free), least of {rounds} rounds taken in turn\n")
    heads = [f"depth {depth}" for depth in depths] + ["training step", "of the step"]
    print(f"{'':28}" + "".join(f"{head:>15}" for head in heads))
    base = {depth: least("nothing", lambda r, d=depth: r["loop"][d]) for depth in depths}
    base_step = least("nothing", lambda r: r["step_ns"])
    events = taken["nothing"][0]["step_events"]
    for way in WAYS:
        cells = []
        for depth in depths:
            value = least(way, lambda r, d=depth: r["loop"][d])
            cells.append(f"{value:.0f}" if way == "nothing" else f"+{value - base[depth]:.0f}")
        added = least(way, lambda r: r["step_ns"]) - base_step
        # The spread between rounds says how far the last columns can be trusted.
        spread = statistics.pstdev(r["step_ns"] for r in taken[way]) / base_step
        if way == "nothing":
            cells += [f"{base_step / 1e6:.1f} ms", f"±{spread:.1%}"]
        else:
            cells += [f"{added / events:+.0f}", f"{added / base_step:+.1%} ±{spread:.1%}"]
        print(f"{way:28}" + "".join(f"{cell:>15}" for cell in cells))
    print(f"\nA training step has {events:.0f} events. Row 'nothing': ns an event without a recorder.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
