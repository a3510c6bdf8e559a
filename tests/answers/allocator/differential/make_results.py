# SPDX-License-Identifier: Apache-2.0
"""Writes RESULTS.md from what random_runs.py and real_programs.py recorded (--record FILE).

python make_results.py FILE…        a run that is there twice counts as it was the last time
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import real_programs
import random_runs

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"

HEAD = """# The allocator's model beside PyTorch's allocator

Written by `make_results.py` from real runs: PyTorch 2.11.0+cu130 on the simulated GPU, each traced,
and the trace replayed through the model (`analyzer/model/allocator`).

- **agree**: at every event the address and size of the block, the segments got, mapped, unmapped and
  given back, refused calls, retries, out of memory, allocated and reserved bytes are the recorded
  ones; the layout at the end is that of `torch.cuda.memory._snapshot()`, block by block, and the
  peaks and the number of retries are those of `torch.cuda.memory_stats()`.
- **predicted**: replayed from the requests alone, with a driver that gives the lowest address, as the
  simulated one does, the peaks, retries, every driver call counted, and what is out of memory are
  also the same. Not asked of runs in which others take the device's memory in mid-run.
"""

LIMITS = """
## How it came about

Runs of these kinds found seven faults, all mended since: a memory fraction that the program takes
back; settings that PyTorch refuses after it has applied a part of them, and several changes before
the recording begins; usable memory where segments are no multiple of 2 MiB, and expandable segments
of such sizes; blocks of other pools that complete while one pool is emptied; which of several
MemPools helps out of memory; the peak of reserved bytes within one request; a recorded layout that
stopped at a refused call of somebody else's. Seeds 1000 to 3105 were run while the last of them were
being mended (one that had differed, 1858, was run again); seeds 5005 to 7110, never used before, with
the finished model. All of it is PyTorch 2.11: nothing is said of other versions.

## What is not in these runs

- Options whose addresses a real driver decides: here it gives the lowest that fits.
- A MemPool that is dropped while its blocks in expandable segments live: PyTorch 2.11 itself crashes.
- `max_split_size_mb` changed in mid-run: PyTorch 2.11 gives parts of segments to cudaFree, which
  refuses them. The model says so and does not claim to be exact.
- A MemPool with `no_split` or `use_on_oom` that was made before the first allocation, when the
  recording begins: its options are not recorded, so the replay differs, and says so.
- Several devices, several threads that allocate at once, MemPools with an allocator of their own.
"""


def read(files: list[str]) -> dict[str, dict]:
    found = {}
    for file in files:
        for line in Path(file).read_text().splitlines():
            one = json.loads(line)
            found[one["name"]] = one
    return found


def agrees(one: dict) -> bool:
    return one["events"] > 0 and not one["differences"] and not one["doubts"]


def row(name: str, several: list[dict]) -> str:
    def total(key: str) -> str:
        return f"{sum(one[key] for one in several):,}"

    agreeing = [one for one in several if agrees(one)]
    asked = [one for one in several if not one["others"]]
    predicted = [one for one in asked if agrees(one) and not one["predicted"]]
    return (f"| {name} | {len(several)} | {len(agreeing)} | {len(predicted)} of {len(asked)} | "
            f"{total('allocations')} | {total('events')} | {total('totals')} | "
            f"{total('retries')} | {total('out_of_memory')} |")


KNOWN = """Where `large_segment_size_mb` is odd while segments expand, PyTorch's allocation ends in an error of
the driver (cuMemAddressReserve refuses the size), of which the allocator tells nothing: what garbage
collection gave back just before then seems to belong to the next request. The replay says that it is
not exact. Every run that differs:
"""

TABLE = """
| {} | runs | agree | predicted | allocations | events compared | totals compared | retries | out of memory |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


def table(title: str, rows: dict[str, list[dict]]) -> list[str]:
    lines = [TABLE.format(title)]
    lines += [row(name, several) for name, several in rows.items() if several]
    return [*lines, row("**all**", [one for several in rows.values() for one in several])]


def differences(several: list[dict]) -> list[str]:
    lines = []
    for one in several:
        for what in (one["doubts"] + one["differences"] + one["predicted"])[:2]:
            lines.append(f"- {one['name']} ({one['kind']}): {what[:300]}")
    return lines or ["None in these runs."]


def refusals(several: list[dict]) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    for one in several:
        for what, count in one["refusals"].items():
            counts[what] += count
    return [f"- {count} × {what}" for what, count in sorted(counts.items())] or ["None."]


def main(files: list[str]) -> None:
    found = read(files)
    by_kind, by_program = defaultdict(list), defaultdict(list)
    for name, one in found.items():
        program, dot, _ = name.partition(".")
        (by_program[program] if dot else by_kind[one["kind"]]).append(one)
    lines = [HEAD, "## Random runs",
             *table("options", {kind: by_kind[kind] for kind in [*random_runs.KINDS, *random_runs.SPECIAL]}), "",
             f"## Real programs, each under {len(real_programs.SETTINGS)} settings",
             *table("program", dict(by_program)), "",
             "Settings: " + "; ".join(f"`{text or 'default'}`"
                                      for text in real_programs.SETTINGS.values()), "",
             "## Known differences", "", KNOWN, *differences(list(found.values())), "",
             "## Errors of PyTorch and of the driver other than out of memory", "",
             "The runs went on after them. The driver's: `large_segment_size_mb` is no multiple of 2",
             "while segments expand. The settings': changes in mid-run that PyTorch refused, in part.",
             "", *refusals(list(found.values())), LIMITS.rstrip()]
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
