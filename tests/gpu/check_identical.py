# SPDX-License-Identifier: Apache-2.0
"""(a) Programs compute the same, print the same and end the same with memtrace and without."""

import tempfile
from pathlib import Path

import cases
import machine
import pairs
import runs


def commands(quick: bool) -> list[tuple[str, list[str]]]:
    found = [(f"checksums {kind}", [runs.python(), str(machine.PROGRAMS / "checksums.py"), kind])
             for kind in ("transformer", "convolutions", "recurrent", "graph")]
    survivors = [program for program, _ in cases.DOES_THE_SAME]
    survivors += [("signals_itself", "default", name) for name in cases.ENDED_BY]
    survivors += [(name,) for name, _ in cases.SEVERAL_TRACES]
    survivors += [("threads_at_exit", "os._exit"), ("many_threads", "100")]
    if quick:
        survivors = survivors[:3]
    return found + [(" ".join(one), pairs.script(*one)) for one in survivors]


def units(facts: dict) -> list[str]:
    return [name for name, _ in commands(facts["quick"])]


def begin(facts: dict) -> machine.Check:
    done = machine.Check("a", "identical results with memtrace and without")
    if facts["simulated"]:
        done.unverified.append("bit patterns: simulated kernels compute nothing")
    return done


def do(done: machine.Check, name: str, facts: dict) -> None:
    command = dict(commands(facts["quick"]))[name]
    with tempfile.TemporaryDirectory() as folder:
        try:
            pair = pairs.run_both(command, Path(folder), env={"CUBLAS_WORKSPACE_CONFIG": ":4096:8"})
        except AssertionError as error:
            done.add({"program": name, "same": False, "how": machine.first_words(error)}, f"{name} differs")
            return
    ended = name.startswith("checksums") and pair.bare.status != 0
    done.add({"program": name, "same": True, "exit_status": pair.bare.status,
              "traces": len(pair.traced.traces)},
             f"{name}: ends with {pair.bare.status}, bare, too" if ended else None)
