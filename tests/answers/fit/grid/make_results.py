# SPDX-License-Identifier: Apache-2.0
"""Measures the grid of batch and length for an encoder of 568 M parameters, and writes RESULTS.md.

    python tests/answers/fit/grid/make_results.py    measures what is not in grid.json, then writes

A dry run trains each cell (encoder.py), on a device that is too large to run out; they share their imports. The categories are the report's, at the peak.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "support"))

import json_rows  # noqa: E402
import runs  # noqa: E402
import warm  # noqa: E402

MEASURED = HERE / "grid.json"
IMPORTS = ("transformers.models.xlm_roberta.modeling_xlm_roberta", "peft")
BATCHES, LENGTHS = (16, 64, 256), (128, 256, 384, 512)
HELD_OUT = ((128, 512), (32, 384))  # not used for the law
GUIDE = ((256, 512), (128, 512), (64, 256))
THEIRS = {(256, 512): (1.2, 12.6, 2.1, 12.6, 0.1, 28.6), (128, 512): (1.2, 6.3, 1.1, 6.3, 0.1, 15.0), (64, 256): (1.2, 1.6, 0.3, 1.6, 0.1, 4.8)}
CONTEXT = 256 << 20
ATTENTIONS = ("eager", "sdpa")
SAID = {"eager": "stored scores", "sdpa": "fused"}
# The guide's own three first.
CELLS = list(dict.fromkeys(
    [(b, s, attention, how) for b, s in GUIDE for attention in ATTENTIONS for how in ("-", "checkpointing")]
    + [(b, s, attention, "-") for attention in ATTENTIONS for b, s in (*((b, s) for b in BATCHES for s in LENGTHS), *HELD_OUT)]))


def name(cell: tuple) -> str:
    return ",".join(map(str, cell))


def measure(cell: str) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        ended = warm.run([runs.python(), HERE / "encoder.py", cell], folder, 7200, gpu="h100-94", memory="8TiB",
                         env={"HF_HUB_OFFLINE": "1"}, imports=IMPORTS).expect(0)
        said = json.loads(ended.stdout.splitlines()[-1])
        device = runs.report(ended.traces, folder)["devices"][0]
    assert device["peak_allocated_bytes"] == said["allocated"]
    return {**said, "categories": {each["category"]: each["bytes"] for each in device["at_peak"]["categories"]}}


def law(found: dict, attention: str, cells: list) -> numpy.ndarray:
    """Coefficients of 1, b, b*s and b*s*s of what is allocated, by least squares."""
    terms = numpy.array([[1, b, b * s, b * s * s] for b, s in cells], float)
    return numpy.linalg.lstsq(terms, numpy.array([found[name((b, s, attention, "-"))]["allocated"] for b, s in cells], float), rcond=None)[0]


def at(coefficients, b: int, s: int) -> float:
    return float(coefficients @ [1, b, b * s, b * s * s])


def gb(count: float) -> str:
    return f"{count / 1e9:.2f}" if count < 1e9 else f"{count / 1e9:.1f}"


def grid_table(found: dict, attention: str) -> str:
    shown = sorted({(b, s) for b, s, kind, how in CELLS if kind == attention and how == "-"})
    text = "| batch | " + " | ".join(map(str, LENGTHS)) + " |\n| ---: |" + " ---: |" * len(LENGTHS) + "\n"
    for batch in sorted({b for b, _ in shown}):
        text += f"| {batch} |"
        for length in LENGTHS:
            one = found.get(name((batch, length, attention, "-")))
            text += " " + (gb(one["reserved"] + CONTEXT) if one else "not run" if (batch, length) in shown else "") + " |"
        text += "\n"
    return text


def guide_table(found: dict) -> str:
    text = ("| batch × length | | weights | activations | of it scores | gradients | optimizer states | total |\n"
            "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
    for b, s in GUIDE:
        weights, activations, scores, gradients, states, total = THEIRS[b, s]
        text += f"| {b} × {s} | the guide | {weights} | {activations + scores:.1f} | {scores} | {gradients} | {states} | {total} |\n"
        for attention in ATTENTIONS:
            one = found.get(name((b, s, attention, "-")))
            if one:
                kinds = one["categories"]
                text += (f"| | measured, {SAID[attention]} | {gb(kinds.get('weights', 0))} | {gb(kinds.get('activations', 0))} | "
                         f"| {gb(kinds.get('gradients', 0))} | {gb(kinds.get('optimizer_states', 0))} | {gb(one['allocated'])} |\n")
    return text


def category_table(found: dict) -> str:
    kinds = sorted({kind for one in found.values() for kind in one["categories"]})
    text = "| batch × length | attention | " + " | ".join(kind.replace("_", " ") for kind in kinds) + " | peak allocated |\n| --- | --- |" + " ---: |" * (len(kinds) + 1) + "\n"
    for b, s in GUIDE:
        for attention in ATTENTIONS:
            for how in ("-", "checkpointing"):
                one = found.get(name((b, s, attention, how)))
                if one:
                    text += f"| {b} × {s} | {SAID[attention]}{', checkpointing' if how != '-' else ''} | "
                    text += " | ".join(gb(one["categories"].get(kind, 0)) for kind in kinds) + f" | {gb(one['allocated'])} |\n"
    return text


def checkpointing_table(found: dict) -> str:
    text = "| batch × length | attention | without | with | saved of all | saved of activations |\n| --- | --- | ---: | ---: | ---: | ---: |\n"
    for b, s in GUIDE:
        for attention in ATTENTIONS:
            plain, saving = (found.get(name((b, s, attention, how))) for how in ("-", "checkpointing"))
            if plain and saving:
                kept_before, kept_after = (one["categories"].get("activations", 0) for one in (plain, saving))
                text += (f"| {b} × {s} | {SAID[attention]} | {gb(plain['allocated'])} | {gb(saving['allocated'])} | "
                         f"{1 - saving['allocated'] / plain['allocated']:.0%} | {1 - kept_after / kept_before:.0%} |\n")
    return text


def law_table(found: dict) -> str:
    text = "| attention | cells | constant | a sample | a token | a token squared, of a sample | highest error on them | on cells that were not used |\n"
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    for attention in ATTENTIONS:
        used, held = ([cell for cell in cells if name((*cell, attention, "-")) in found] for cells in ([(b, s) for b in BATCHES for s in LENGTHS], HELD_OUT))
        if len(used) <= 4:  # four coefficients go through any four cells
            continue
        coefficients = law(found, attention, used)

        def error(cells):
            return f"{max(abs(at(coefficients, b, s) / found[name((b, s, attention, '-'))]['allocated'] - 1) for b, s in cells):.2%}" if cells else "not run"

        constant, sample, token, square = coefficients
        text += (f"| {SAID[attention]} | {len(used)} | {constant / 1e9:.2f} GB | {sample / 1e6:.2f} MB | {token / 1e3:.1f} kB | {square:.1f} B "
                 f"| {error(used)} | {error(held)} |\n")
    return text


def main() -> None:
    found = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    missing = [name(cell) for cell in CELLS if name(cell) not in found]
    for cell in missing:
        found[cell] = measure(cell)
        json_rows.write(MEASURED, found, sort_keys=True)
        print(f"{len(found)} of {len(CELLS)}: {cell}", flush=True)
    page = (HERE / "page.md").read_text()
    tables = {"eager": grid_table(found, "eager"), "sdpa": grid_table(found, "sdpa"), "guide": guide_table(found),
              "checkpointing": checkpointing_table(found), "categories": category_table(found), "law": law_table(found)}
    missing = [cell for cell in map(name, CELLS) if cell not in found]
    tables["missing"] = f"{len(CELLS) - len(missing)} of {len(CELLS)} cells were run."
    for key, made in tables.items():
        assert "{" + key + "}" in page
        page = page.replace("{" + key + "}", made.rstrip())
    (HERE / "RESULTS.md").write_text(page)


if __name__ == "__main__":
    main()
