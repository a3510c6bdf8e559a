# SPDX-License-Identifier: Apache-2.0
"""The answers of `memtrace fit` in every cell, kept in fit.json; and what halving would have answered.

    python tests/answers/fit/answers.py [PROGRAM...]            one fit a program, over all of its GPUs; goes on where it stopped
    python tests/answers/fit/answers.py --again [PROGRAM...]    anew what another build of memtrace answered
"""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import brute_force
import cells
import json_rows
import runs

RESULTS = cells.HERE / "fit.json"
KEPT = ("gpu", "largest_batch", "refused_batch", "verified", "runs", "peak_reserved_bytes", "used_bytes", "capacity_bytes")
START = 64  # what somebody who halves may begin with


def fit(program: cells.Program, gpus: tuple[str, ...], scratch: Path) -> list[dict]:
    """The rows of its JSON. The program is started as by hand: fit puts the batch in place."""
    template = program.template
    if ":" in template and not template.startswith("env:"):
        template = f"{cells.PROGRAMS}/{template}"
    file = scratch / "fit.json"
    ended = subprocess.run(
        [str(runs.memtrace()), "fit", "--gpu", ",".join(gpus), "--batch", template, "--json", str(file), "--cache",
         str(scratch / "cache"), "--", *program.command(runs.python(), scratch)],
        env=runs.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=3600, check=False)
    assert ended.returncode == 0, f"{program.name}: exit status {ended.returncode}\n{ended.stderr.decode(errors='replace')[-4000:]}"
    made = json.loads(file.read_text())
    assert made["schema"] == "memtrace-fit/1"
    return made["rows"]


def build() -> dict:
    """Which memtrace answered: the commit of this checkout, and the command's own bytes, as the two may differ."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=cells.HERE, capture_output=True, text=True, check=True).stdout.strip()
    return {"commit": commit, "memtrace": hashlib.sha256(runs.memtrace().read_bytes()).hexdigest()[:12]}


def current(kept: dict, program: cells.Program, made_by: dict, again: bool) -> bool:
    return kept.get("content") == program.content() and not (again and kept.get("build", {}).get("memtrace") != made_by["memtrace"])


def halving(outcomes: str, start: int, smaller=lambda batch: batch // 2) -> tuple[int, int]:
    """The batch that trying ever smaller ones ends with, and its runs; beyond what was tried nothing fits."""
    batch, tries = start, 0
    while batch:
        tries += 1
        if batch <= len(outcomes) and outcomes[batch - 1] == "f":
            break
        batch = smaller(batch)
    return batch, tries


def above(largest: int) -> int:
    """The power of two that somebody begins with who happens to know twice the answer's."""
    return 2 << (largest.bit_length() - 1) if largest else 1


def main() -> None:
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    again, wanted, made_by = "--again" in sys.argv, [each for each in sys.argv[1:] if each != "--again"], build()
    for program in cells.ALL:
        if (wanted and program.name not in wanted) or current(found.get(program.name, {}), program, made_by, again):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            rows = fit(program, program.gpus, Path(scratch))
        found[program.name] = {"content": program.content(), "build": made_by, "rows": [{name: row.get(name) for name in KEPT} for row in rows]}
        json_rows.write(RESULTS, found, sort_keys=True)
        truth = brute_force.load()[program.name]["cells"]
        for row in rows:
            expected = brute_force.largest(truth[row["gpu"]]["outcomes"])
            print(f"{program.name} on {row['gpu']}: fit {row['largest_batch']}, every batch {expected}, {row['runs']} runs"
                  f"{'' if expected == row['largest_batch'] else '   DIFFERS'}", flush=True)


if __name__ == "__main__":
    main()
