# SPDX-License-Identifier: Apache-2.0
"""(h) The category of each block at the peak, beside the truth from inside the program."""

import tempfile
from pathlib import Path

import machine
import truth_cases


def units(facts: dict) -> list[str]:
    return [case.name for case in truth_cases.CASES
            if case.ranks == 1 and (case.quick or not facts["quick"])]


def begin(facts: dict) -> machine.Check:
    del facts
    return machine.Check("h", "categories beside the truth from inside the program")


def do(done: machine.Check, name: str, facts: dict) -> None:
    del facts
    case = next(one for one in truth_cases.CASES if one.name == name)
    result = {"program": name}
    with tempfile.TemporaryDirectory() as folder:
        try:
            peak = truth_cases.run_case(case, Path(folder), ("all",))[0].moments["all"]
        except Exception as error:  # the other programs still count
            done.add({**result, "error": machine.first_words(error)}, f"{name}: did not run")
            return
    result |= {"peak_bytes": peak.moment_bytes, "known": peak.known, "agreeing": peak.agreeing}
    done.add(result, None if peak.good else f"{name}: categories differ from the truth")
