# SPDX-License-Identifier: Apache-2.0
"""What censuses cost: a run of 20 ms steps of a model of 300 parameters that keeps a tensor in each.

Usage: census.py [STEPS]     timed steps (1500)

Counted in the records of the trace; beside it what the step takes with and without them."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import agent
from recording import BUILD, command

REASONS = {1: "high water", 2: "step", 3: "out of memory", 4: "exit", 5: "signal", 6: "program",
           7: "interval"}
KEEPING = """
import sys, torch
sys.argv = ["agent_steps.py", *sys.argv[2:]]
sys.path.insert(0, {bench!r})
import agent_steps
kept, build = [], agent_steps.build
def keeping():
    model, optimizer = build()
    optimizer.register_step_post_hook(lambda *_: kept.append(torch.empty(256, device="cuda")))
    return model, optimizer
agent_steps.build = keeping
agent_steps.main(int(sys.argv[1]), int(sys.argv[2]))
"""


def measure(steps: int, spin: int, **environment) -> tuple[dict, list[dict]]:
    """What the program says, and the ends of the censuses in its trace."""
    with tempfile.TemporaryDirectory() as output:
        program = KEEPING.format(bench=str(Path(__file__).parent))
        outcome = subprocess.run(
            [*command(True, output), sys.executable, "-c", program, "-", str(steps), str(spin)],
            env={**os.environ, **environment}, capture_output=True, text=True)
        said = [line.removeprefix("RESULT ") for line in outcome.stdout.splitlines()
                if line.startswith("RESULT ")]
        if not said:
            sys.exit(f"memtrace bench: no result; the program said:\n{outcome.stderr}")
        trace = next(Path(output).glob("*.mtrace"))
        dump = subprocess.run([BUILD / "memtrace", "dump", "--no-stacks", trace], check=True,
                              capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in dump.splitlines() if '"census"' in line]
    return json.loads(said[0]), [line for line in lines if line["action"] == "end"]


def main(steps: int) -> None:
    spin = agent.spin_for_a_step()
    without, none = measure(steps, spin, MEMTRACE_CENSUS="0")
    with_them, taken = measure(steps, spin)
    assert not none and taken
    spent = sum(census["nanoseconds"] for census in taken)
    times = [census["nanoseconds"] / 1e6 for census in taken]
    counts = Counter(REASONS[census["reason"]] for census in taken)
    reasons = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    print(f"{steps} steps of {with_them['all_wall_ns'] / (steps + 10) / 1e6:.1f} ms: {len(taken)} censuses "
          f"({reasons}),\n"
          f"{statistics.median(times):.1f} ms each ({min(times):.1f} to {max(times):.1f}), "
          f"{spent / 1e6:.0f} ms in all: {spent / with_them['all_wall_ns']:.2%} of the run")
    added = with_them["all_cpu_ns"] / without["all_cpu_ns"] - 1
    print(f"CPU time of the run beside one with MEMTRACE_CENSUS=0: {added:+.2%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
