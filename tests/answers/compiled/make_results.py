# SPDX-License-Identifier: Apache-2.0
"""Sets module, line and category beside the truth for every compiled program; writes RESULTS.md.

python tests/answers/compiled/make_results.py [--into FILE] [--only NAME...]
"""

import datetime
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "answers" / "attribution"), str(HERE.parents[1] / "support")]

import compiled_agreement  # noqa: E402
import compiled_cases  # noqa: E402
import result_cases  # noqa: E402
import runs  # noqa: E402

HEAD = """# Compiled programs beside the truth

Each program trained {where} (torch {torch}) with torch.compile (Inductor) and libmemtrace.so: once compiled in
the process, once in a second process from the cache that the first had filled. A harness inside of
the process wrote what each block is, by PyTorch's own means and without memtrace. Made by
`tests/answers/compiled/make_results.py` on {date}.

The truth of **module** and **line**:

- of what a compiled graph returns (what forward saves for backward is a part of it, from the
  partitioner's list; gradients of a compiled backward): the node of the graph, with Dynamo's stack of
  lines and modules. Where the node is a view, also the lines and modules of the nodes that it is a view
  of, back to the one that made the memory; *by a view* is the share of the bytes whose line agrees
  only so;
- of other buffers of a compiled graph: any of the nodes that Inductor's own intermediate
  representation names as the buffer's origins;
- of parameters, buffers, gradients and optimizer states: the modules that own the parameter;
- of the rest: the innermost line of the program and the innermost running module at the allocation.

*Known* is the share of the bytes at the peak whose line the truth knows; memory that libraries
allocate in backward, workspaces first of all, has none. The truth of the **category** is that of
`tests/answers/attribution`. A module that Dynamo names by a local variable is looked up in the running frame, so
that modules that share a graph are told apart. In a process that compiles nothing, the nodes are those
that the first process found, matched by the order in which graphs first run; Inductor's key of the
code has to be the same. Percent of the bytes, never rounded up; a line that falls short is bold.
"""
COLUMNS = ["program", "", "run", "peak, MiB", "known", "module", "line", "category", "by a view",
           "end of forward: module, line, category", "largest mistake at the peak or the end of forward"]


def percent(value: float, wanted: float = 0) -> str:
    text = "100" if value >= 100 else f"{int(value * 10) / 10:.1f}"
    return text if value >= wanted else f"**{text}**"


def shares(one: compiled_agreement.Found) -> list[str]:
    return [percent(one.module.percent, compiled_agreement.MODULE), percent(one.line.percent, compiled_agreement.LINE),
            percent(one.category.percent, compiled_agreement.CATEGORY)]


def row(outcome: compiled_cases.Outcome) -> str:
    peak, forward = outcome.found[:2]
    mistakes = sorted(((size, what) for one in (peak, forward) for what, size in one.mistakes.items()), reverse=True)
    worst = f"{mistakes[0][0] / 2**20:.1f} MiB: {mistakes[0][1]}" if mistakes else "none"
    cells = [outcome.case.name, outcome.case.what, outcome.run,
             f"{peak.bytes / 2**20:.1f}", percent(100 * peak.line.bytes / peak.bytes), *shares(peak),
             percent(100 * peak.by_view / peak.bytes), ", ".join(shares(forward)), worst]
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def write(target: Path, outcomes: list[compiled_cases.Outcome], failures: list[str]) -> None:
    where = "on this machine's GPU" if runs.on_real_gpu() else f"on the simulated {runs.GPU}"
    text = HEAD.format(where=where, torch=outcomes[0].truth["torch"] if outcomes else "?",
                       date=datetime.date.today().isoformat())
    lines = ["| " + " | ".join(cells) + " |" for cells in (COLUMNS, ["---"] * len(COLUMNS))]
    text += "\n" + "\n".join(lines + [row(outcome) for outcome in outcomes]) + "\n"
    if failures:
        text += "\n## What falls short or failed\n\n" + "\n".join(f"- {one}" for one in failures) + "\n"
    target.write_text(text)


def shortcomings(outcome: compiled_cases.Outcome) -> list[str]:
    found = [f"{outcome.case.name}, {outcome.run}: {problem}" for problem in outcome.truth["problems"][:1]]
    for one in outcome.found:
        if not one.good:
            found.append(f"{outcome.case.name}, {outcome.run}, {one.name}: module {percent(one.module.percent)}, line "
                         f"{percent(one.line.percent)}, category {percent(one.category.percent)}, "
                         f"{one.strange_blocks} blocks in one of the two only")
    return found


def main() -> int:
    chosen = result_cases.options(HERE / "RESULTS.md")
    outcomes, failures = [], []
    run = compiled_cases.run_case
    for case, found in result_cases.outcomes(compiled_cases.CASES, chosen.only, run, failures):
        outcomes += found
        for outcome in found:
            compiled_agreement.show(f"{case.name}, {outcome.run}", outcome.found)
            failures += shortcomings(outcome)
        sys.stdout.flush()
        write(chosen.into, outcomes, failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
