# SPDX-License-Identifier: Apache-2.0
"""The largest batch of every cell by trying every batch: what `memtrace fit` is compared with.

    python tests/answers/fit/brute_force.py [PROGRAM...]    goes on where it stopped, one process at a time
    python tests/answers/fit/brute_force.py --plain         repeats what decides each cell as plain dry runs

Each batch from 1 up is tried in a dry run of its own, which shares only its imports with others (warm.py); it did not
fit if the program ended by torch.OutOfMemoryError, and anything else than that or success ends this script. Whether a batch fits need not be monotone, so that the first that does not is
not the last: a cell is done after BEYOND more in a row. With --plain, the batches where a cell's outcome
changes, and the last tried, are run once more, each as a dry run of the program alone, started as a user would.

Kept in brute_force.json: a letter a batch, `f` fits, `o` out of memory; and the letters of the plain runs.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import cells
import json_rows
import runs
import warm

RESULTS = cells.HERE / "brute_force.json"
BEYOND = 3


def dry_run(gpu: str, command: list[str], variables: dict, seconds: int) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(runs.memtrace()), "dry-run", "--bare", "--gpu", gpu, "--", *command], env=runs.environment(variables),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, check=False)


def every_batch(program: cells.Program, gpu: str) -> str:
    outcomes = ""
    while not done(outcomes):
        with tempfile.TemporaryDirectory() as scratch:
            command, variables = program.with_batch(runs.python(), Path(scratch), len(outcomes) + 1)
            ended = warm.run(command, None, 3600, gpu=gpu, env=variables, imports=program.imports)
        outcomes += letter(program, gpu, len(outcomes) + 1, ended.status, ended.stderr)
    return outcomes


def letter(program: cells.Program, gpu: str, batch: int, status: int, stderr: bytes) -> str:
    said = stderr.decode(errors="replace")
    if status == 0:
        return "f"
    if "torch.OutOfMemoryError: CUDA out of memory" in said:
        return "o"
    sys.exit(f"{program.name} with {batch} on {gpu}: exit status {status}\n{said[-3000:]}")


def plain(program: cells.Program, gpu: str, batch: int) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        ended = dry_run(gpu, *program.with_batch(runs.python(), Path(scratch), batch), 600)
    return letter(program, gpu, batch, ended.returncode, ended.stderr)


def done(outcomes: str) -> bool:
    return outcomes.endswith("o" * (1 + BEYOND))


def largest(outcomes: str) -> int:
    """The largest batch that fits at all; 0: none."""
    return outcomes.rfind("f") + 1


def monotone(outcomes: str) -> bool:
    return "of" not in outcomes


def deciding(outcomes: str) -> list[int]:
    """Both sides of each change, and the last."""
    both = {number for number in range(1, len(outcomes)) if outcomes[number - 1] != outcomes[number]}
    return sorted(both | {number + 1 for number in both} | {len(outcomes)})


def load() -> dict:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def save(found: dict) -> None:
    new = RESULTS.with_suffix(".new")
    json_rows.write(new, found, sort_keys=True)
    os.replace(new, RESULTS)


def main() -> None:
    found, repeats = load(), "--plain" in sys.argv
    wanted = [each for each in sys.argv[1:] if each != "--plain"]
    for program in cells.ALL:
        if wanted and program.name not in wanted:
            continue
        kept = found.get(program.name, {})
        if kept.get("content") != program.content():
            kept = found[program.name] = {"content": program.content(), "cells": {}}
        for gpu in program.gpus:
            cell = kept["cells"].setdefault(gpu, {"outcomes": "", "plain": {}})
            if not cell["outcomes"]:
                cell["outcomes"] = every_batch(program, gpu)
                save(found)
                print(f"{program.name} on {gpu}: {cell['outcomes']}, largest {largest(cell['outcomes'])}", flush=True)
            for batch in deciding(cell["outcomes"]) if repeats else []:
                if str(batch) not in cell["plain"]:
                    cell["plain"][str(batch)] = plain(program, gpu, batch)
                    save(found)
                if cell["plain"][str(batch)] != cell["outcomes"][batch - 1]:
                    sys.exit(f"{program.name} on {gpu} with {batch}: alone it is {cell['plain'][str(batch)]}")


if __name__ == "__main__":
    main()
