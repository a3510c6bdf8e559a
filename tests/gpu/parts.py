# SPDX-License-Identifier: Apache-2.0
"""The checks in parts of at most ten minutes, in order of worth: each writes a file of its own after
every program, so that a machine that is taken away costs the program alone, and goes on where it was."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import check_categories
import check_constants
import check_cost
import check_events
import check_identical
import check_peaks
import check_samples
import check_sizes
import check_sum
import machine
import json_rows

CHECKS = {
    "a": check_identical, "b": check_events, "c": check_sum, "d": check_cost, "e": check_peaks,
    "f": check_constants, "g": check_samples, "h": check_categories, "i": check_sizes,
}
# The facts that must be the same for two parts to stand in one table.
SAME = ("gpu", "total_bytes", "torch", "cuda", "python", "driver", "simulated", "quick")


@dataclass(frozen=True)
class Part:
    name: str
    letter: str
    has: Callable[[str, int], bool] = lambda unit, place: True
    what: str = ""

    def units(self, facts: dict) -> list[str]:
        every = CHECKS[self.letter].units(facts)
        return [unit for place, unit in enumerate(every) if self.has(unit, place)]


def ends(word: str) -> Callable[[str, int], bool]:
    return lambda unit, place: unit.split()[-1] == word


def between(first: int, last: int) -> Callable[[str, int], bool]:
    return lambda unit, place: first <= place < last


PARTS = [
    Part("sum", "c", what="the report's sum beside cudaMemGetInfo and NVML"),
    Part("constants", "f", what="what the context and the libraries take"),
    Part("checksums", "a", lambda unit, place: unit.startswith("checksums"), "results bit for bit"),
    Part("events", "b", ends("default"), "beside PyTorch's snapshot and CUPTI"),
    Part("peaks", "e", ends("default"), "predicted beside real"),
    Part("cost-small", "d", ends("small"), "of a step"),
    Part("samples", "g", what="CUDA programs without PyTorch"),
    Part("programs", "a", lambda unit, place: not unit.startswith("checksums"),
         "forks, signals, exceptions"),
    Part("sizes", "i", what="single operations beside the simulated GPU"),
    Part("cost-medium", "d", ends("medium"), "of a step"),
    Part("cost-large", "d", ends("large"), "of a step"),
    Part("events-expandable", "b", ends("expandable"), "expandable segments"),
    Part("peaks-expandable", "e", ends("expandable"), "expandable segments"),
    Part("categories", "h", between(0, 8), "beside the truth"),
    Part("categories-more", "h", between(8, 16), "beside the truth"),
    Part("categories-rest", "h", between(16, 99), "beside the truth"),
    Part("events-streams", "b", ends("streams"), "several streams"),
    Part("peaks-streams", "e", ends("streams"), "several streams"),
]


def named(words: list[str]) -> list[Part]:
    """By name, or by number from 1; raises KeyError for what there is not."""
    known = {one.name: one for one in PARTS} | {str(n): one for n, one in enumerate(PARTS, 1)}
    return [known[word] for word in words]


def file_of(part: Part, folder: Path) -> Path:
    return folder / f"{part.name}.json"


def is_of(kept: dict, facts: dict) -> bool:
    return all(kept["machine"].get(name) == facts[name] for name in SAME)


def begun(part: Part, facts: dict, file: Path) -> tuple[machine.Check, dict]:
    """The part that is left of it from the last time, or all of it."""
    if file.exists():
        kept = json.loads(file.read_text())
        if is_of(kept, facts) and kept["left"]:
            return check_of(kept), kept
    units = part.units(facts)
    return CHECKS[part.letter].begin(facts), {
        "part": part.name, "machine": facts, "left": units, "seconds": {}}


def check_of(kept: dict) -> machine.Check:
    found = kept["check"]
    return machine.Check(found["check"], found["title"], found["results"], found["wrong"],
                         found["skipped"], found["unverified"])


def run(part: Part, facts: dict, folder: Path, most_seconds: float) -> dict:
    """One program at least, and none after `most_seconds`: what is left then is done when the part
    runs again."""
    folder.mkdir(parents=True, exist_ok=True)
    file, began = file_of(part, folder), time.monotonic()
    done, kept = begun(part, facts, file)
    kept["check"] = done.as_json()
    json_rows.write(file, kept)
    for number, unit in enumerate(list(kept["left"])):
        since = time.monotonic()
        if number and since - began > most_seconds:
            break
        CHECKS[part.letter].do(done, unit, facts)
        kept["left"].remove(unit)
        kept["seconds"][unit] = round(time.monotonic() - since, 1)
        kept["check"] = done.as_json()
        json_rows.write(file, kept)
    return kept


def kept_in(folder: Path, facts: dict) -> list[dict]:
    """Those parts that ran on this machine, in their order."""
    files = [file_of(part, folder) for part in PARTS]
    found = [json.loads(file.read_text()) for file in files if file.exists()]
    return [one for one in found if is_of(one, facts)]


def merged(kept: list[dict]) -> list[machine.Check]:
    """One check for each letter, whatever the number of its parts."""
    checks: dict[str, machine.Check] = {}
    for one in kept:
        part = check_of(one)
        whole = checks.setdefault(part.letter, machine.Check(part.letter, part.title))
        for name in ("results", "wrong", "skipped", "unverified"):
            have = getattr(whole, name)
            have += [each for each in getattr(part, name) if each not in have]
        whole.skipped += [f"{unit}: not reached yet; run part {one['part']} again" for unit in one["left"]]
    return [checks[letter] for letter in sorted(checks)]
