# SPDX-License-Identifier: Apache-2.0
"""(h) The category of each block at the peak, beside the truth from inside the program."""

import tempfile
from pathlib import Path

import machine
import truth_cases


def check(quick: bool) -> machine.Check:
    done = machine.Check("h", "categories beside the truth from inside the program")
    for case in truth_cases.CASES:
        if case.ranks > 1 or (quick and not case.quick):
            continue
        result = {"program": case.name}
        with tempfile.TemporaryDirectory() as folder:
            try:
                peak = truth_cases.run_case(case, Path(folder), ("all",))[0].moments["all"]
            except Exception as error:  # the other programs still count
                done.add({**result, "error": machine.first_words(error)}, f"{case.name}: did not run")
                continue
        result |= {"peak_bytes": peak.moment_bytes, "known": peak.known, "agreeing": peak.agreeing}
        done.add(result, None if peak.good else f"{case.name}: categories differ from the truth")
    return done
