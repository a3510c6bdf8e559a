# SPDX-License-Identifier: Apache-2.0
"""(c) The sum that the report shows for the device, beside what cudaMemGetInfo and NVML say.

The program asks at its own high point, with everything still allocated. The report's sample is of
the highest moment that was recorded, which is the same one if nobody else uses the device.
"""

import json
import tempfile
from pathlib import Path

import machine
import runs

CASES = ["pool", "expandable", "async", "driver", "pinned", "mixed"]
# Others on the same device, and what the driver takes by itself between two moments.
MOST_OFF = 4 << 20


def one(case: str) -> dict:
    variables = {"expandable": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
                 "async": {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}}.get(case, {})
    with tempfile.TemporaryDirectory() as folder:
        outcome = runs.run([runs.python(), machine.PROGRAMS / "device_sum.py", case],
                           Path(folder) / "trace", env=variables)
        if outcome.status != 0 or len(outcome.traces) != 1:
            return {"case": case, "error": machine.first_words(outcome.stderr.decode(errors="replace"))}
        asked = json.loads(outcome.stdout.splitlines()[-1])
        device = runs.report(outcome.traces, Path(folder))["devices"][0]
    return {"case": case, **asked, "report": device.get("used"),
            "unexplained_bytes": device.get("unexplained_bytes")}


def what_is_wrong(found: dict) -> str | None:
    """The parts add up; the sum is what the driver said; on the simulator nothing is unexplained."""
    if "error" in found:
        return f"{found['case']}: did not run"
    used = found["report"]
    if not used:
        return f"{found['case']}: the report knows no sum"
    parts = sum(part["bytes"] for part in used["parts"])
    if parts + found["unexplained_bytes"] != used["used_bytes"]:
        return f"{found['case']}: parts and the unexplained rest do not add up"
    off = abs(used["used_bytes"] - found["mem_get_info_used"])
    if off > (MOST_OFF if runs.on_real_gpu() else 0):
        return f"{found['case']}: {off:,} bytes off cudaMemGetInfo"
    if not runs.on_real_gpu() and found["unexplained_bytes"] != 0:
        return f"{found['case']}: {found['unexplained_bytes']:,} bytes unexplained"
    return None


def units(facts: dict) -> list[str]:
    del facts
    return CASES


def begin(facts: dict) -> machine.Check:
    done = machine.Check("c", "the sum beside cudaMemGetInfo and NVML")
    if facts["simulated"]:
        done.unverified.append("how much a real driver takes by itself: the simulated one "
                               "takes nothing")
    return done


def do(done: machine.Check, case: str, facts: dict) -> None:
    del facts
    found = one(case)
    done.add(found, what_is_wrong(found))
