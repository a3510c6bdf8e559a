# SPDX-License-Identifier: Apache-2.0
"""(f) What the context and the libraries take outside the program's own allocations, to feed the
simulator (simulator/constants.def). Each in a process of its own: kernels are loaded lazily, so
whoever comes first pays."""

import json

import machine
import runs

# What programs/library_memory.py measures, and the constant it is a value for.
PROBES = {
    "context": "context", "first_kernel": None, "cublas": "cublas_handle", "cublaslt": None,
    "cudnn": "cudnn_handle", "attention": None, "cusolver": None, "cufft": None,
    "nccl": "nccl_communicator", "nccl_second_group": None,
}


def check(quick: bool) -> machine.Check:
    done = machine.Check("f", "constants of the context and the libraries")
    if not runs.on_real_gpu():
        done.unverified.append("every constant: these are the simulator's own")
    for probe in list(PROBES)[:3] if quick else PROBES:
        outcome = runs.run([runs.python(), machine.PROGRAMS / "library_memory.py", probe], None)
        if outcome.status != 0:
            done.add({"probe": probe,
                      "error": machine.first_words(outcome.stderr.decode(errors="replace"))},
                     f"{probe}: did not run")
            continue
        done.add({"probe": probe, "constant": PROBES[probe],
                  **json.loads(outcome.stdout.splitlines()[-1])})
    return done


def setting_of(done: machine.Check) -> str:
    """What makes the simulator take as much: a value of MEMTRACE_SIM_CONSTANTS."""
    return ",".join(f"{one['constant']}={one['bytes']}" for one in done.results
                    if one.get("constant") and "bytes" in one)
