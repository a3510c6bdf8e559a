# SPDX-License-Identifier: Apache-2.0
"""Writes RESULTS.md from brute_force.json and fit.json, which brute_force.py and answers.py make."""

import json

import brute_force
import cells
import answers

HEAD = """# The largest batch by memtrace fit, and by trying every batch

{programs} programs (`programs/`), each on {gpus} GPUs. "Every batch" is `brute_force.py`: each batch from 1 up, until
{beyond} more after the first refusal of a row; it did not fit if the program ended by `torch.OutOfMemoryError`. The
batches were run in processes that share their imports (`warm.py`). In {repeated} of the cells both sides of every boundary, and the last
batch tried, were run again as plain `memtrace dry-run`s ({plain} of them): all had the same outcome (`brute_force.py --plain` does the rest). "fit" is the `largest_batch` of one
`memtrace fit` a program over all of its GPUs; its runs are the dry runs that its JSON counts for the cell.

Halving is what `auto_find_batch_size` did in transformers until accelerate took it over; accelerate 1.15, the installed one,
multiplies by 0.9 instead. Both begin with {start} here, or with twice the answer's power of two, as somebody who knows it nearly.
Their answers come from the same outcomes; batches above those tried count as refused. Made by `make_results.py`.

{summary}
"""
NINE_TENTHS = lambda batch: int(batch * 0.9)  # noqa: E731


def cell(program: cells.Program, gpu: str, outcomes: str, row: dict | None) -> tuple[str, dict]:
    largest = brute_force.largest(outcomes)
    halved, halvings = answers.halving(outcomes, answers.START)
    near, near_runs = answers.halving(outcomes, answers.above(largest))
    slow, slow_runs = answers.halving(outcomes, answers.START, NINE_TENTHS)
    answered = row["largest_batch"] if row else None
    facts = {"equal": answered == largest and row["verified"] if row else None, "fit": row["runs"] if row else 0, "every": len(outcomes),
             "halved": halved / largest if largest else 1, "halvings": halvings, "slow": slow / largest if largest else 1, "slow_runs": slow_runs,
             "first": gpu == program.gpus[0], "monotone": brute_force.monotone(outcomes)}
    said = "not run" if row is None else f"{answered}" + ("" if facts["equal"] else " **differs**" if answered != largest else " (not verified)")
    notes = "" if facts["monotone"] else f" not monotone: `{outcomes}`"
    return (f"| {program.name} | {gpu} | {largest} | {said} | {row['runs'] if row else ''} | {len(outcomes)} | {halved} ({halvings}) "
            f"| {near} ({near_runs}) | {slow} ({slow_runs}) |{notes}\n"), facts


def answered_by(kept: dict) -> str:
    return f"{kept['build']['commit']}, {kept['build']['memtrace']}" if kept.get("build") else "-"


def share(values: list) -> float:
    return sum(values) / len(values) if values else 0


def main() -> None:
    truth = brute_force.load()
    fitted = json.loads(answers.RESULTS.read_text()) if answers.RESULTS.exists() else {}
    text, facts, plain, repeated = "", [], 0, 0
    for program in cells.ALL:
        found = truth.get(program.name, {"cells": {}})
        assert found.get("content", program.content()) == program.content(), f"{program.name} has changed: brute_force.py first"
        kept = fitted.get(program.name, {})
        rows = {row["gpu"]: row for row in kept.get("rows", [])} if kept.get("content") == program.content() else {}
        for gpu in program.gpus:
            outcomes = found["cells"].get(gpu, {}).get("outcomes", "")
            if outcomes:
                line, one = cell(program, gpu, outcomes, rows.get(gpu))
                text, plain = text + line, plain + len(found["cells"][gpu]["plain"])
                facts.append(one)
                repeated += set(map(str, brute_force.deciding(outcomes))) <= set(found["cells"][gpu]["plain"])
    answered = [each for each in facts if each["equal"] is not None]
    first, further = ([each["fit"] for each in answered if each["first"] == is_first] for is_first in (True, False))
    summary = (
        f"{len(facts)} cells; fit was run in {len(answered)}, and is equal in {sum(each['equal'] for each in answered)}. Dry runs by fit: "
        f"{share(first):.1f} on average for a program's first GPU (at most {max(first, default=0)}), {share(further):.1f} for each further one "
        f"(at most {max(further, default=0)}); by trying every batch: {share([each['every'] for each in facts]):.1f} a cell. Halving from "
        f"{answers.START} takes {share([each['halvings'] for each in facts]):.1f} runs a cell and ends with {share([each['halved'] for each in facts]):.0%} of the "
        f"largest batch on average; nine tenths at a time take {share([each['slow_runs'] for each in facts]):.1f} and end with "
        f"{share([each['slow'] for each in facts]):.0%}. Whether a batch fits is monotone in "
        f"{sum(each['monotone'] for each in facts)} of {len(facts)} cells.\n")
    table = ("| program | GPU | every batch | fit | runs of fit | runs of every batch | halving from 64: batch (runs) "
             "| from twice: batch (runs) | nine tenths from 64: batch (runs) |\n| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n")
    what = ("\n## The programs\n\nLast, the commit and the memtrace (first digits of its SHA-256) whose fit answered.\n\n"
            "| program | what it does | how it takes its batch | fit by |\n| --- | --- | --- | --- |\n") + "".join(
        f"| {each.name} | {each.what} | `{each.template}` | {answered_by(fitted.get(each.name, {}))} |\n" for each in cells.ALL)
    head = HEAD.format(programs=len(cells.ALL), gpus=len(cells.SMALL), beyond=brute_force.BEYOND, plain=plain, repeated=repeated, start=answers.START, summary=summary)
    (cells.HERE / "RESULTS.md").write_text(head + table + text + what)


if __name__ == "__main__":
    main()
