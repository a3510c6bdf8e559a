# SPDX-License-Identifier: Apache-2.0
"""(i) What PyTorch allocates in single operations: on this GPU, and on the simulated one that stands for it. Where
the two differ, a library asks for a workspace whose size the simulator does not know."""

import json

import check_peaks
import machine
import runs

FAMILIES = ["recurrent", "convolutions", "attention", "matrices", "reductions"]


def operations(family: str, **gpu: str) -> dict:
    outcome = runs.run([runs.python(), machine.PROGRAMS / "library_sizes.py", family], None, **gpu)
    return json.loads(outcome.expect(0).stdout.splitlines()[-1])


def differences(real: dict, simulated: dict) -> dict:
    """By operation: pairs of sizes that differ; both lists where one is longer, or an error."""
    found = {}
    for name, sizes in real.items():
        other = simulated[name]
        if sizes == other:
            continue
        pairs = isinstance(sizes, list) and isinstance(other, list) and len(sizes) == len(other)
        found[name] = [pair for pair in zip(sizes, other) if pair[0] != pair[1]] if pairs else [sizes, other]
    return found


def units(facts: dict) -> list[str]:
    return FAMILIES[2:3] if facts["quick"] else FAMILIES


def begin(facts: dict) -> machine.Check:
    done = machine.Check("i", "what single operations allocate, beside the simulated GPU")
    if facts["simulated"]:
        done.skipped.append("both would be the same simulated run")
        done.unverified.append("what the libraries ask for")
    elif facts["model"] is None:
        done.skipped.append(f"no simulated GPU stands for {facts['gpu']}")
    return done


def do(done: machine.Check, family: str, facts: dict) -> None:
    if facts["simulated"] or facts["model"] is None:
        return
    result = {"family": family}
    try:
        real = operations(family)
        with check_peaks.on_the_simulator():
            differ = differences(real, operations(family, gpu=facts["model"], memory=f"{facts['total_bytes']}B"))
        done.add({**result, "operations": len(real), "equal": len(real) - len(differ), "differ": differ})
    except Exception as error:  # the other families still count
        done.add({**result, "failure": machine.first_words(error)}, f"{family}: did not run")
