# SPDX-License-Identifier: Apache-2.0
"""Results: lists/MODULE.json, one for each module, and RESULTS.md made from all of them."""

import json
from collections import Counter
from pathlib import Path

import json_rows
from compared import Compared, kind_of

HEAD = """# Other people's tests

Each module of tests runs twice, side by side on the simulated GPU: bare, and with libmemtrace.so
preloaded and recording. What counts is that every test ends the same way, down to the type of what it
raises: kernels compute nothing, so many of PyTorch's numeric tests fail either way. A test that ends
the process or hangs costs itself alone. One that ended otherwise ran three more times each way; it is
a difference if it ended traced as it never did bare, else it is unsteady by itself.

CPython's tests run in a process that has imported PyTorch and trains a step before each test, so that
the recorder is active throughout; the trace of that process has exactly the allocations that PyTorch
counted. Made by `scripts/foreign_tests`, from the counts and differences in [lists](lists/).

"""
COLUMNS = ["passed", "failed", "skipped", "failed as expected", "ended the process", "hung", "not run"]


def in_words(found: Compared) -> str:
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(found.counted().items()))
    return (f"{counts}; {len(found.different)} different, {len(found.unsteady)} unsteady; "
            f"{found.traced.traces} traces, {len(found.traced.wrong)} wrong; "
            f"{found.bare.seconds:.0f} s bare, {found.traced.seconds:.0f} s traced")


def many(hows: list[str]) -> str:
    return ", ".join(f"{count} × {how}" for how, count in sorted(Counter(hows).items()))


def differences(found: Compared) -> list[str]:
    return ([f"{one}: bare {many(ways[0])}; traced {many(ways[1])}"
             for one, ways in sorted(found.different.items())] + found.traced.wrong)


def keep(found: Compared, facts: dict, folder: Path) -> None:
    kept = {
        **facts, "module": found.module, "traces": found.traced.traces,
        "seconds": [round(found.bare.seconds), round(found.traced.seconds)],
        "wrong_traces": found.traced.wrong,
        "different": {one: [many(way) for way in ways] for one, ways in sorted(found.different.items())},
        "unsteady": {one: [many(way) for way in found.again[one]] for one in found.unsteady},
        "ended": dict(sorted(Counter(map(kind_of, found.bare.tests.values())).items())),
    }
    (folder / "lists").mkdir(parents=True, exist_ok=True)
    # PyTorch's tests may run under more than one release of it.
    under = f"-torch-{facts['torch'].split('+')[0]}" if "checkout" in facts else ""
    target = folder / "lists" / f"{found.module}{under}.json"
    json_rows.write(target, kept)


def row(kept: dict) -> str:
    counts = Counter(kept["ended"])
    other = sum(counts.values()) - sum(counts[name] for name in COLUMNS)
    counts["failed"] += other  # passed unexpectedly: either way not what the test wants
    whose = f"PyTorch {kept['checkout']}" if "checkout" in kept else f"CPython {kept['python']}"
    cells = [f"`{kept['module']}`", whose, kept["torch"], kept["date"], sum(kept["ended"].values()),
             *(counts[name] for name in COLUMNS), len(kept["unsteady"]), len(kept["different"]),
             kept["traces"], len(kept["wrong_traces"])]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def write(folder: Path) -> None:
    lists = [json.loads(file.read_text()) for file in sorted((folder / "lists").glob("*.json"))]
    head = ["module", "tests of", "torch", "on", "tests", *COLUMNS, "unsteady", "different", "traces",
            "of them wrong"]
    lines = ["| " + " | ".join(head) + " |",
             "| --- | --- | --- | --- |" + " ---: |" * (len(head) - 4),
             *map(row, sorted(lists, key=lambda kept: (
                 "checkout" in kept, kept["torch"], kept["module"])))]
    total = sum(sum(kept["ended"].values()) for kept in lists)
    different = [(kept["module"], one, ways) for kept in lists for one, ways in kept["different"].items()]
    wrong = [one for kept in lists for one in kept["wrong_traces"]]
    unsteady = [(one, how) for kept in lists for one, how in kept["unsteady"].items()]
    lines += ["", f"{total:,} tests, {len(different)} different.", "", "## Differences", ""]
    lines += [f"- `{one}`: bare {bare}; traced {traced}" for _, one, (bare, traced) in different] or ["None."]
    if wrong:
        lines += ["", "## Traces that are not as they should be", "", *(f"- {one}" for one in wrong)]
    if unsteady:
        lines += ["", "## Unsteady by themselves", "",
                  *(f"- `{one}`: bare {bare}; traced {traced}" for one, (bare, traced) in unsteady)]
    (folder / "RESULTS.md").write_text(HEAD + "\n".join(lines) + "\n")
