# SPDX-License-Identifier: Apache-2.0
"""The cost of the agent: a 20 ms step of a model of 300 parameters, bare, recorded without the agent
and with it, in turn in one run.

Usage: agent.py [ROUNDS [STEPS]]     rounds of every way, each a process (7); timed steps of each (60)

The aim is less than 2 % of the step for the agent."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

from recording import ROOT, command

STEPS = str(ROOT / "bench" / "agent_steps.py")
STEP_NS = 20e6

# name -> (traced by memtrace, environment)
WAYS = {
    "bare": (False, {}),
    "recorded, MEMTRACE_AGENT=0": (True, {"MEMTRACE_AGENT": "0"}),
    "recorded with the agent": (True, {}),
}
BARE, WITHOUT, WITH = WAYS


def measure(way: str, steps: int, spin: int) -> dict:
    traced, environment = WAYS[way]
    with tempfile.TemporaryDirectory() as output:
        outcome = subprocess.run(
            [*command(traced, output), sys.executable, STEPS, str(steps), str(spin)],
            env={**os.environ, **environment}, capture_output=True, text=True,
        )
    for line in outcome.stdout.splitlines():
        if line.startswith("RESULT "):
            result = json.loads(line.removeprefix("RESULT "))
            # The least: the machine may be busy with other things. What the agent does, it does in
            # every step.
            return {**result, "wall": min(result["wall_ns"]), "cpu": min(result["cpu_ns"])}
    sys.exit(f"memtrace bench: {way}: no result; the program said:\n{outcome.stderr}")


def spin_for_a_step() -> int:
    """How often the loop must run so that a bare step takes 20 ms of CPU."""
    some = 100_000
    plain, longer = (min(measure(BARE, 30, spin)["cpu"] for _ in range(2)) for spin in (0, some))
    return max(0, round(some * (STEP_NS - plain) / (longer - plain)))


def middle(values: list[float]) -> str:
    """The median, and the half of the values around it."""
    low, median, high = statistics.quantiles(values, n=4)
    return f"{median:+.2%} ({low:+.2%} to {high:+.2%})"


def main(rounds: int, steps: int) -> None:
    spin = spin_for_a_step()
    taken: dict[str, list[dict]] = {way: [] for way in WAYS}
    for number in range(rounds):
        order = list(WAYS) if number % 2 == 0 else list(reversed(WAYS))
        for way in order:
            taken[way].append(measure(way, steps, spin))

    def added(way, to, pick):
        """Shares of the bare step, in pairs of the same round."""
        return middle([(one[pick] - other[pick]) / bare[pick]
                       for one, other, bare in zip(taken[way], taken[to], taken[BARE], strict=True)])

    bare = taken[BARE]
    print(f"{statistics.median(one['wall'] for one in bare) / 1e6:.1f} ms a step "
          f"({statistics.median(one['cpu'] for one in bare) / 1e6:.1f} ms of CPU), 300 parameters, "
          f"{bare[0]['events']:.0f} events a step;\n{rounds} rounds of {steps} steps, "
          f"{bare[0]['processors']} processors. The least step of a process;\n"
          "median of the pairs (and their middle half)\n")
    print(f"{'added to a step':48}{'wall time':>32}{'CPU time':>32}")
    for name, way, to in (("recording without the agent, beside bare", WITHOUT, BARE),
                          ("recording with the agent, beside bare", WITH, BARE),
                          ("agent and what it makes known: with, without", WITH, WITHOUT)):
        print(f"{name:48}{added(way, to, 'wall'):>32}{added(way, to, 'cpu'):>32}")
    hooks = statistics.median(statistics.median(one["hooks_ns"]) for one in taken[WITH])
    step = statistics.median(one["cpu"] for one in bare)
    print(f"\nThe agent's own hooks, timed inside the step: {hooks / 1e3:.0f} µs, {hooks / step:.2%} of the bare "
          "step.\nThe last row has besides what it makes possible: running modules, saved tensors, names.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7, int(sys.argv[2]) if len(sys.argv) > 2 else 60)
