# SPDX-License-Identifier: Apache-2.0
"""Writes docs/guides_tables.md from largest.json, which largest.py makes, and from page.md.

    python tests/fit/guides/make_results.py
"""

import json
from pathlib import Path

import settings

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[2] / "docs" / "guides_tables.md"
CAPACITY = {"rtx3080": 10.49, "v100-16": 16.95, "rtx4090": 25.39, "rtx3090": 25.44, "a100-40": 42.29}  # GB; memtrace dry-run --list-gpus
CONTEXT = 256 << 20
HIGHEST = 1024


class Found:
    def __init__(self):
        self.cells = json.loads((HERE / "largest.json").read_text())

    def cell(self, setting: str, model: str, gpu: str) -> dict | None:
        return self.cells.get(f"{setting}: {model}: {gpu}")

    def batch(self, setting: str, model: str, gpu: str) -> str:
        found = self.cell(setting, model, gpu)
        if found is None:
            return "not run"
        return f"at least {HIGHEST}" if found["largest"] >= HIGHEST else str(found["largest"] or "none")

    def use(self, setting: str, model: str, gpu: str) -> str:
        found = self.cell(setting, model, gpu)
        if not found or not found["largest"]:
            return "–"
        used = (found["peak_reserved"] + CONTEXT) / 1e9
        return f"{used:.1f} GB, {used / CAPACITY[gpu]:.0%}"


def verdict(theirs: int, largest: str) -> str:
    if largest == "not run":
        return "not run"
    most = HIGHEST if largest.startswith("at least") else int(largest) if largest.isdigit() else 0
    if theirs > most:
        return "**does not fit**"
    return "fits" if 2 * theirs > most else f"fits, {most / theirs:.1f} times as many would"


def saving(found: Found) -> str:
    text = ("| model | GPU | they train with | fits fp32 | fits fp16 | their verdict (fp32 / fp16) | in use at the largest (fp32) | they evaluate with | evaluation fits |\n"
            "| --- | --- | ---: | ---: | ---: | --- | --- | ---: | ---: |\n")
    for row in settings.SAVING:
        single, half = (found.batch(each, row.model, row.gpu) for each in ("train, fp32", "train, fp16"))
        text += (f"| {settings.NAMES[row.model]} | {settings.GPUS[row.gpu]} | {row.train} | {single} | {half} | {verdict(row.train, single)} / "
                 f"{verdict(row.train, half)} | {found.use('train, fp32', row.model, row.gpu)} | {row.evaluation} "
                 f"| {found.batch('evaluation', row.model, row.gpu)} |\n")
    return text


def batches(found: Found) -> str:
    text = ("| model | GPU | they train with | fits fp32 | fits fp16 | their verdict (fp32 / fp16) | they evaluate with | evaluation fits | they infer with | inference fits |\n"
            "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |\n")
    for row in settings.BATCHES:
        single, half = (found.batch(each, row.model, row.gpu) for each in ("train, fp32", "train, fp16"))
        text += (f"| {settings.NAMES[row.model]} | {settings.GPUS[row.gpu]} | {row.train} | {single} | {half} | {verdict(row.train, single)} / "
                 f"{verdict(row.train, half)} | {row.evaluation} | {found.batch('evaluation', row.model, row.gpu)} | {row.inference} "
                 f"| {found.batch('inference', row.model, row.gpu)} |\n")
    return text


def everything(found: Found) -> str:
    """Every setting; the columns of settings that were not run at all are left out, and said."""
    run = [each for each in settings.SETTINGS if any(key.startswith(each + ":") for key in found.cells)]
    text = "| model | GPU | " + " | ".join(run) + " |\n| --- | --- |" + " ---: |" * len(run) + "\n"
    for model, gpus in settings.models().items():
        for gpu in gpus:
            text += f"| {settings.NAMES[model]} | {settings.GPUS[gpu]} | " + " | ".join(found.batch(each, model, gpu) for each in run) + " |\n"
    missing = [each for each in settings.SETTINGS if each not in run]
    return text + (f"\nNot run yet: {', '.join(missing)}.\n" if missing else "")


def short(found: Found) -> str:
    """For people who only want a number: an eighth below the largest, which is the room that the guides' own target leaves."""
    text = "| model | GPU | training, fp32 | training, fp16 | evaluation |\n| --- | --- | ---: | ---: | ---: |\n"
    for model, gpus in settings.models().items():
        for gpu in gpus:
            cells = []
            for setting in ("train, fp32", "train, fp16", "evaluation"):
                one = found.cell(setting, model, gpu)
                most = one["largest"] if one else None
                cells.append("not run" if most is None else "does not fit" if not most else str(max(most * 7 // 8, 1)))
            text += f"| {settings.NAMES[model]} | {settings.GPUS[gpu]} | " + " | ".join(cells) + " |\n"
    return text


def counted(found: Found) -> str:
    cells = settings.cells()
    return f"{sum(found.cell(*each) is not None for each in cells)} of {len(cells)} cells were run"


def by_fit(found: Found) -> str:
    """memtrace fit's answers beside those of the bisection; the cells where both are known."""
    file = HERE / "by_fit.json"
    answers = json.loads(file.read_text()) if file.exists() else {}
    text = "| setting | model | GPU | by bisection | by fit | its dry runs |\n| --- | --- | --- | ---: | ---: | ---: |\n"
    equal = 0
    for name, answer in answers.items():
        setting, model, gpu = name.split(": ")
        searched = found.cell(setting, model, gpu)
        if searched:
            equal += answer["largest_batch"] == searched["largest"] and answer["verified"]
            text += (f"| {setting} | {settings.NAMES[model]} | {settings.GPUS[gpu]} | {searched['largest']} | {answer['largest_batch']}"
                     f"{'' if answer['verified'] else ' (not verified)'} | {answer['runs']} |\n")
    if not answers:
        return "`memtrace fit` was not run on any of these cells (`by_fit.py` does it), so that this page does not show that it gives the same.\n"
    return f"`memtrace fit` was run on {len(answers)} of these cells (`by_fit.py`); it is equal, and verified on both sides, in {equal}.\n\n{text}"


def main() -> None:
    found, page = Found(), (HERE / "page.md").read_text()
    matrix = HERE / "matrix.txt"
    made = {"short": short(found), "saving": saving(found), "batches": batches(found), "everything": everything(found),
            "by_fit": by_fit(found), "counted": counted(found), "matrix": matrix.read_text() if matrix.exists() and matrix.read_text() else "(not run yet)\n"}
    for key, text in made.items():
        assert "{" + key + "}" in page
        page = page.replace("{" + key + "}", text.rstrip())
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
