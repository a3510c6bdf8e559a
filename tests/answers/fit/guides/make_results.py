# SPDX-License-Identifier: Apache-2.0
"""Writes docs/guides_tables.md from by_fit.json (by_fit.py), largest.json (largest.py), matrix.txt (matrix.py) and page.md.

    python tests/answers/fit/guides/make_results.py
"""

import json
import statistics
from pathlib import Path

import settings

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[3] / "docs" / "guides_tables.md"
CONTEXT = 256 << 20
HIGHEST = 1024  # where largest.py stops
SHORT = ("train, fp32", "train, fp16", "train, checkpointing", "evaluation", "inference")
CHANGES = ("train, fp16", "train, bf16", "train, half the sequence", "train, checkpointing", "evaluation", "inference")


def kept(file: str) -> dict:
    return json.loads((HERE / file).read_text()) if (HERE / file).exists() else {}


class Found:
    """memtrace fit's answers, and beside them what a bisection without it found in some of the cells."""

    def __init__(self):
        self.fit, self.bisected = kept("by_fit.json"), kept("largest.json")

    def cell(self, setting: str, model: str, gpu: str) -> dict | None:
        return self.fit.get(f"{setting}: {model}: {gpu}")

    def by_fit(self, setting: str, model: str, gpu: str) -> int | None:
        """None: fit was not asked, or did not get there."""
        found = self.cell(setting, model, gpu)
        return found["largest_batch"] if found and found["verified"] else None

    def most(self, *cell: str) -> int | None:
        """By fit, or where it was not asked by the bisection."""
        most = self.by_fit(*cell)
        return self.by_bisection(*cell) if most is None else most

    def by_bisection(self, setting: str, model: str, gpu: str) -> int | None:
        found = self.bisected.get(f"{setting}: {model}: {gpu}")
        return found["largest"] if found else None

    def equal(self, *cell: str) -> bool | None:
        """None: not known twice. The bisection ends at HIGHEST."""
        most, other = self.by_fit(*cell), self.by_bisection(*cell)
        if most is None or other is None:
            return None
        return min(most, HIGHEST) == other

    def batch(self, *cell: str) -> str:
        most = self.most(*cell)
        if most is None:
            return "not run" if self.cell(*cell) is None else "not verified"
        return str(most or "none") + ("*" if self.by_fit(*cell) is None else "")

    def use(self, *cell: str) -> str:
        name = ": ".join(cell)
        reserved = self.fit[name]["peak_reserved_bytes"] if name in self.fit else self.bisected.get(name, {}).get("peak_reserved")
        capacity = next((each["capacity_bytes"] for key, each in self.fit.items() if key.endswith(cell[-1])), None)
        if not reserved or not capacity:
            return "–"
        return f"{(reserved + CONTEXT) / 1e9:.1f} GB, {(reserved + CONTEXT) / capacity:.0%}"

    def fitted(self) -> list[tuple[str, str, str]]:
        return [each for each in settings.cells() if self.by_fit(*each) is not None]


def table(head: list[str], rows: list[list[str]], text: int) -> str:
    """The first `text` columns are words, the others numbers."""
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * text + ["---:"] * (len(head) - text)) + " |"]
    return "\n".join(lines + ["| " + " | ".join(each) + " |" for each in rows]) + "\n"


def verdict(theirs: int | None, largest: str) -> str:
    if theirs is None:
        return "–"
    number = largest.rstrip("*")
    if not (number.isdigit() or number == "none"):
        return "–"
    most = int(number) if number.isdigit() else 0
    if theirs > most:
        return "**does not fit**"
    return "fits" if 2 * theirs > most else f"fits, {most / theirs:.1f} times as many would"


def names(model: str, gpu: str) -> list[str]:
    return [settings.NAMES[model], settings.GPUS[gpu]]


def advised(found: Found, row: settings.Advice, asks: list[tuple[str, int | None]]) -> list[str]:
    """For each setting their figure, what fits, and whether theirs does."""
    text = names(row.model, row.gpu)
    for setting, theirs in asks:
        largest = found.batch(setting, row.model, row.gpu)
        text += ["–" if theirs is None else str(theirs), largest, verdict(theirs, largest)]
    return text


def saving(found: Found) -> str:
    head = ["model", "GPU", "they train with", "fits in fp32", "theirs", "with fp16", "theirs", "they evaluate with", "fits", "theirs",
            "in use at the largest in fp32", "they expect"]
    rows = []
    for row in settings.SAVING:
        made = advised(found, row, [("train, fp32", row.train), ("train, fp16", row.train), ("evaluation", row.evaluation)])
        del made[5]  # their training batch again
        rows.append([*made, found.use("train, fp32", row.model, row.gpu), f"{row.expected_gb} GB"])
    return table(head, rows, 2)


def batches(found: Found) -> str:
    head = ["model", "GPU", "they train with", "fits in fp32", "theirs", "with fp16", "theirs", "they evaluate with", "fits", "theirs",
            "they infer with", "fits", "theirs"]
    rows = []
    for row in settings.BATCHES:
        made = advised(found, row, [("train, fp32", row.train), ("train, fp16", row.train), ("evaluation", row.evaluation),
                                    ("inference", row.inference)])
        del made[5]
        rows.append(made)
    return table(head, rows, 2)


def everything(found: Found) -> str:
    """Every setting; in brackets the bisection's answer, where it was made."""
    def shown(*cell: str) -> str:
        other, equal = found.by_bisection(*cell), found.equal(*cell)
        beside = "" if other is None or equal is None else f" ({'≥ ' if other >= HIGHEST else ''}{other})"
        return ("**" + found.batch(*cell) + beside + "**") if equal is False else found.batch(*cell) + beside

    rows = [[*names(model, gpu), *(shown(each, model, gpu) for each in settings.SETTINGS)]
            for model, gpus in settings.models().items() for gpu in gpus]
    return table(["model", "GPU", *settings.SETTINGS], rows, 2)


def short(found: Found) -> str:
    """For people who only want a number: an eighth below the largest, which is the room that the guides' own target leaves."""
    def begin(*cell: str) -> str:
        most = found.most(*cell)
        return found.batch(*cell) if most is None else "does not fit" if not most else str(max(most * 7 // 8, 1))

    rows = [[*names(model, gpu), *(begin(each, model, gpu) for each in SHORT)] for model, gpus in settings.models().items() for gpu in gpus]
    return table(["model", "GPU", *(each.replace("train,", "training,") for each in SHORT)], rows, 2)


def changes(found: Found) -> str:
    """How many times the batch of training in fp32 fits with one change; of cells where both fit."""
    rows = []
    for setting in CHANGES:
        ratios, rescued, checked = [], 0, 0
        for model, gpus in settings.models().items():
            for gpu in gpus:
                before, after = found.most("train, fp32", model, gpu), found.most(setting, model, gpu)
                if before is None or after is None:
                    continue
                checked += not before
                rescued += not before and bool(after)
                ratios += [after / before] if before else []
        rows.append([setting, *([f"{each:.2f}" for each in (min(ratios), statistics.median(ratios), max(ratios))] if ratios else ["–"] * 3),
                     str(len(ratios)), f"{rescued} of {checked}"])
    head = ["instead of training in fp32", "batch at least ×", "in the middle ×", "at most ×", "cells", "fits where fp32 fits no batch"]
    return table(head, rows, 1)


def counted(found: Found) -> str:
    cells, fitted = settings.cells(), found.fitted()
    both = [each for each in map(lambda cell: found.equal(*cell), fitted) if each is not None]
    text = f"{len(fitted)} of {len(cells)} cells were made by `memtrace fit`, each verified by dry runs on both sides of the boundary"
    text += f". In {len(both)} of them a bisection without it was made, too: {sum(both)} are equal"
    others = [each for each in cells if found.by_fit(*each) is None]
    bisected = sum(found.by_bisection(*each) is not None for each in others)
    refused = sum(found.cell(*each) is not None for each in others)
    text += f". {bisected} have the bisection alone (marked *)" if bisected else ""
    text += f". In {refused} fit was asked and did not get there" if refused else ""
    missing = sum(found.most(*each) is None for each in cells)
    return text + (f". {missing} were not run" if missing else "")


def runs(found: Found) -> str:
    """Dry runs and time a cell: of a model's first GPU in a setting, and of the further ones."""
    rows = []
    for setting in settings.SETTINGS:
        first, further, seconds = [], [], []
        for model, gpus in settings.models().items():
            cells = [found.cell(setting, model, gpu) for gpu in gpus]
            for number, cell in enumerate(cells):
                if cell:
                    (further if number else first).append(cell["runs"])
                    seconds.append(cell["seconds"])
        if first:
            rows.append([setting, str(len(first) + len(further)), f"{statistics.mean(first):.1f}, at most {max(first)}",
                         f"{statistics.mean(further):.1f}, at most {max(further)}" if further else "–", f"{statistics.mean(seconds):.0f} s"])
    return table(["setting", "cells", "dry runs for a model's first GPU", "for each further one", "time a cell"], rows, 1)


def differences(found: Found) -> str:
    """Where the bisection ended elsewhere: at a batch that runs out though a larger one fits."""
    text = []
    for cell in found.fitted():
        if found.equal(*cell) is not False:
            continue
        other, most = found.bisected[": ".join(cell)], found.by_fit(*cell)
        setting, model, gpu = cell
        name = f"{setting}, {settings.NAMES[model]} on the {settings.GPUS[gpu]}"
        text.append(f"- {name}: both are right. {other['refused']} runs out of memory and {most} fits again: memory is in pieces, and fit is not monotone. "
                    "The bisection ends at the first such place." if other["refused"] < most else f"- {name}: not explained.")
    return "\n".join(text) if text else "There is no difference."


def builds(found: Found) -> str:
    made = {tuple(sorted(each["build"].items())) for each in found.fit.values()}
    return ", ".join(f"commit {dict(each)['commit']} (SHA-256 of the command {dict(each)['memtrace']}…)" for each in sorted(made))


def main() -> None:
    found, page = Found(), (HERE / "page.md").read_text()
    matrix = HERE / "matrix.txt"
    made = {each.__name__: each(found) for each in (short, saving, batches, everything, differences, changes, runs, counted, builds)}
    made["matrix"] = matrix.read_text() if matrix.exists() and matrix.read_text() else "(not run yet)\n"
    for key, text in made.items():
        assert "{" + key + "}" in page, key
        page = page.replace("{" + key + "}", text.rstrip())
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
