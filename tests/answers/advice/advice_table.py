# SPDX-License-Identifier: Apache-2.0
"""RESULTS.md: advice beside the truth."""

import datetime
from pathlib import Path

from advice_judge import Compared, Judged, size
from known_remedy import DRIVER

HERE = Path(__file__).resolve().parent

INTRODUCTION = """\
# Advice beside the truth

{programs} programs with a known best remedy and {healthy} healthy ones, each run on the simulated GPU
(PyTorch 2.11.0) with libmemtrace.so. The advice in its report is set beside what PyTorch's own counters
say of the *changed* program, really run without memtrace (`truth.json`, `held_out.json`; what only the
advice names is run when it is named). Which remedy is the best was written down, and the changes measured,
before any advice ran on these programs. Made by `tests/answers/advice/make_results.py` on {day}.

- **Place**: of the best remedy among the groups of advice (two sizes of a batch are one). Asked for: first
  or second, but for what saves no memory of the GPU.
- **Saving**: of peak reserved memory. Within 5 % of the really changed program, or inside of the range that
  the report gives; 20 % where the report says that it is an estimate. Of a program that runs out of memory:
  whether the change mends it.
- **Saves nothing**: advice that names bytes, on a program that needs as many after the change (less than
  half of the threshold of 1 % of peak reserved and 2 MiB less).
"""


def mark(value: bool | None) -> str:
    return {True: "yes", False: "**no**", None: ""}[value]


def share(part: int, whole: int) -> str:
    return f"{part} of {whole}"


def compared(judged: list[Judged]) -> list[Compared]:
    return [one for judgement in judged for one in judgement.compared]


def totals(judged: list[Judged]) -> str:
    sick = [one for one in judged if one.truth.best]
    well = [one for one in judged if not one.truth.best]
    all_compared = compared(judged)
    rows = [
        ("best remedy advised in its place", sum(bool(one.place_right) for one in sick), len(sick)),
        ("its saving is right", sum(bool(one.saving_right) for one in sick), len(sick)),
        ("healthy programs without advice that saves nothing", sum(not one.nothing for one in well),
         len(well)),
        ("other programs without advice that saves nothing", sum(not one.nothing for one in sick), len(sick)),
    ]
    for proof in ("replayed", "estimated", "measured"):
        some = [one for one in all_compared if one.proof == proof]
        rows.append((f"all advice that was tried, {proof}: saving right", sum(one.right for one in some),
                     len(some)))
    tried, untried = len(all_compared), sum(len(one.unknown) for one in judged)
    lines = [f"| {name} | {share(part, whole)} |" for name, part, whole in rows]
    return "\n".join(["| | |", "| --- | --- |", *lines,
                      f"| pieces of advice that were tried for real | {share(tried, tried + untried)} |"])


def saving(one: Compared | None) -> str:
    if one is None:
        return ""
    if one.really_mended is not None:
        return "mends" if one.says_mended else "does not mend"
    if one.of == DRIVER:
        return "time"
    return size(one.said) if one.said == one.said_most else f"{size(one.said)} to {size(one.said_most)}"


def real(one: Compared | None) -> str:
    if one is None:
        return ""
    if one.really_mended is not None:
        return "mends" if one.really_mended else "does not mend"
    return f"{one.real:,} calls of the driver" if one.of == DRIVER else size(one.real)


def error(one: Compared | None) -> str:
    if one is None or one.really_mended is not None or one.of == DRIVER:
        return ""
    return f"{one.error:+.1%}"


def remedies(judged: list[Judged]) -> list[str]:
    lines = ["", "## The best remedy", "",
             "| program | best | place | says | really | error | right |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for one in judged:
        if not one.truth.best:
            continue
        lines.append(f"| {one.truth.name} | {' or '.join(one.truth.best)} | {one.place or 'not advised'} | "
                     f"{saving(one.best)} | {real(one.best)} | {error(one.best)} | "
                     f"{mark(bool(one.place_right and one.saving_right))} |")
    return lines


def every_piece(judged: list[Judged]) -> list[str]:
    lines = ["", "## All advice that was tried for real", "",
             "| program | advice | proof | says | really | error | right |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for judgement in judged:
        for one in judgement.compared:
            amount = f" {one.amount}" if one.amount else ""
            lines.append(f"| {judgement.truth.name} | {one.id}{amount} | {one.proof} | {saving(one)} | "
                         f"{real(one)} | {error(one)} | {mark(one.right)} |")
    return lines


def wrong(judged: list[Judged]) -> list[str]:
    lines = ["", "## Wrong", ""]
    for one in judged:
        said = "; ".join(one.first) or "nothing"
        if one.truth.best and not (one.place_right and one.saving_right):
            lines.append(f"- `{one.truth.name}` ({one.truth.why}): place {one.place or 'none'}, "
                         f"saving {'right' if one.saving_right else 'wrong'}. Said first: {said}.")
        lines += [f"- `{one.truth.name}`: saves nothing: {entry}." for entry in one.nothing]
    return lines if len(lines) > 3 else [*lines, "Nothing."]


def untried(judged: list[Judged]) -> list[str]:
    lines = ["", "## Not tried", "",
             "Advice that the program has no switch for; whether it is right is not known here.", ""]
    return lines + [f"- `{one.truth.name}`: {'; '.join(one.unknown)}." for one in judged if one.unknown]


def text_of(judged: list[Judged], notes: str) -> str:
    begin = INTRODUCTION.format(programs=sum(bool(one.truth.best) for one in judged),
                                healthy=sum(not one.truth.best for one in judged),
                                day=datetime.date.today())
    parts = [begin, "\n", notes, "\n## Totals\n\n", totals(judged), "\n",
             "\n".join([*wrong(judged), *remedies(judged), *every_piece(judged), *untried(judged)]), "\n"]
    return "".join(parts)
