# SPDX-License-Identifier: Apache-2.0
"""(f) What the context and the libraries take outside the program's own allocations, to feed the
simulator (simulator/constants.def). Each in a process of its own: kernels are loaded lazily, so
whoever comes first pays."""

import json

import machine
import runs

# Each case that programs/library_memory.py measures, with the constant that it gives a value for.
PROBES = {
    "context": "context", "first_kernel": None, "cublas": "cublas_handle", "cublaslt": None,
    "cudnn": "cudnn_handle", "attention": None, "cusolver": None, "cufft": None,
    "nccl": None, "nccl_second_group": None,  # of one rank: the constants are of several
}


# On the simulator, whether a probe finds what is there: constants of sizes that nothing else has.
PLANTED = {"context": 301 << 20, "cublas_handle": 46 << 20, "cudnn_handle": 22 << 20}


def run_probe(probe: str, planted: int | None) -> dict:
    constant = PROBES[probe]
    env = {"MEMTRACE_SIM_CONSTANTS": f"{constant}={planted}"} if planted else {}
    outcome = runs.run([runs.python(), machine.PROGRAMS / "library_memory.py", probe], None, env=env)
    result = {"probe": probe, "constant": constant}
    if outcome.status != 0:
        return {**result, "error": machine.first_words(outcome.stderr.decode(errors="replace"))}
    result |= json.loads(outcome.stdout.splitlines()[-1])
    return {**result, "planted": planted} if planted else result


def units(facts: dict) -> list[str]:
    del facts
    return list(PROBES)


def begin(facts: dict) -> machine.Check:
    done = machine.Check("f", "constants of the context and the libraries")
    if facts["simulated"]:
        done.unverified.append("every constant: what is found here is what was planted; NCCL's, "
                               "which need several devices")
    return done


def do(done: machine.Check, probe: str, facts: dict) -> None:
    planted = PLANTED.get(PROBES[probe]) if facts["simulated"] else None
    found = run_probe(probe, planted)
    wrong = None
    if "error" in found:
        wrong = f"{probe}: did not run"
    elif planted and found["bytes"] != planted:
        wrong = f"{probe}: found {found['bytes']:,} bytes, {planted:,} were planted"
    done.add(found, wrong)


def setting_of(done: machine.Check) -> str:
    """The value of MEMTRACE_SIM_CONSTANTS that makes the simulator take as much."""
    return ",".join(f"{one['constant']}={one['bytes']}" for one in done.results
                    if one.get("constant") and "bytes" in one)
