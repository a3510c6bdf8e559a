# SPDX-License-Identifier: Apache-2.0
"""Measures the grid of batch and length for an encoder of 568 M parameters, and writes RESULTS.md.

    python tests/fit/grid/make_results.py    measures what is not in grid.json, then writes

One dry run trains all cells, each in a process of its own with a trace of its own (encoder.py), on a device that
is too large to run out; the categories are the report's, at the peak.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))

import runs  # noqa: E402

MEASURED = HERE / "grid.json"
BATCHES, LENGTHS = (16, 64, 256), (128, 256, 384, 512)
HELD_OUT = ((128, 512), (32, 384))  # not used for the law
GUIDE = ((256, 512), (128, 512), (64, 256))
CONTEXT = 256 << 20
CELLS = [*((b, s, attention, "-") for attention in ("sdpa", "eager") for b, s in (*((b, s) for b in BATCHES for s in LENGTHS), *HELD_OUT)),
         *((b, s, attention, "checkpointing") for attention in ("sdpa", "eager") for b, s in GUIDE)]


def name(cell: tuple) -> str:
    return ",".join(map(str, cell))


def measure(cells: list[str], found: dict) -> None:
    with tempfile.TemporaryDirectory() as folder:
        line = [str(runs.memtrace()), "dry-run", "--no-report", "--gpu", "h100-94", "--memory", "8TiB", "--output", folder, "--", runs.python()]
        ended = subprocess.run([*line, str(HERE / "encoder.py"), *cells], env=runs.environment(), capture_output=True, check=False)
        assert ended.returncode == 0, ended.stderr.decode(errors="replace")[-3000:]
        for text in ended.stdout.splitlines():
            said = json.loads(text)
            made = runs.report(list(Path(folder).glob(f"*.{said['pid']}.mtrace")), Path(folder))
            device = made["devices"][0]
            assert device["peak_allocated_bytes"] == said["allocated"]
            found[said.pop("cell")] = {
                **{key: said[key] for key in ("allocated", "reserved", "parameters", "trained")},
                "categories": {each["category"]: each["bytes"] for each in device["at_peak"]["categories"]}}


def law(found: dict, attention: str, value) -> numpy.ndarray:
    """Coefficients of 1, b, b*s and b*s*s by least squares over the grid."""
    rows = [(b, s, value(found[name((b, s, attention, "-"))])) for b in BATCHES for s in LENGTHS]
    return numpy.linalg.lstsq(numpy.array([[1, b, b * s, b * s * s] for b, s, _ in rows], float), numpy.array([y for *_, y in rows], float), rcond=None)[0]


def at(coefficients, b: int, s: int) -> float:
    return float(coefficients @ [1, b, b * s, b * s * s])


def gb(count: float) -> str:
    return f"{count / 1e9:.2f}" if count < 1e9 else f"{count / 1e9:.1f}"


def grid_table(found: dict, attention: str) -> str:
    shown = sorted({(b, s) for b, s, kind, _ in CELLS if kind == attention})
    largest = max(LENGTHS)
    text = "| batch | " + " | ".join(map(str, LENGTHS)) + " |\n| ---: |" + " ---: |" * len(LENGTHS) + "\n"
    for batch in sorted({b for b, _ in shown}):
        cells = [gb(found[name((batch, s, attention, "-"))]["reserved"] + CONTEXT) if (batch, s) in shown else "" for s in LENGTHS]
        text += f"| {batch} | " + " | ".join(cells) + " |\n"
    assert largest in LENGTHS
    return text


def category_table(found: dict) -> str:
    kinds = ("weights", "activations", "gradients", "optimizer states", "temporaries")
    text = "| batch × length | attention | " + " | ".join(kinds) + " | other | peak allocated |\n| --- | --- |" + " ---: |" * (len(kinds) + 2) + "\n"
    for b, s in GUIDE:
        for attention in ("eager", "sdpa"):
            for checkpointing in ("-", "checkpointing"):
                one = found[name((b, s, attention, checkpointing))]
                known = {kind: one["categories"].get(kind.replace(" ", "_"), one["categories"].get(kind, 0)) for kind in kinds}
                how = {"eager": "stored scores", "sdpa": "flash"}[attention] + (", checkpointing" if checkpointing != "-" else "")
                text += f"| {b} × {s} | {how} | " + " | ".join(gb(known[kind]) for kind in kinds)
                text += f" | {gb(one['allocated'] - sum(known.values()))} | {gb(one['allocated'])} |\n"
    return text


def law_table(found: dict) -> str:
    text = "| attention | constant | a sample | a token | a token squared, of a sample | highest error on the grid | on cells that were not used |\n"
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    for attention in ("eager", "sdpa"):
        coefficients = law(found, attention, lambda one: one["allocated"])

        def error(cells):
            return max(abs(at(coefficients, b, s) / found[name((b, s, attention, "-"))]["allocated"] - 1) for b, s in cells)

        constant, sample, token, square = coefficients
        text += (f"| {'stored scores' if attention == 'eager' else 'flash'} | {constant / 1e9:.2f} GB | {sample / 1e6:.2f} MB | {token / 1e3:.1f} kB | {square:.1f} B "
                 f"| {error([(b, s) for b in BATCHES for s in LENGTHS]):.2%} | {error(HELD_OUT):.2%} |\n")
    return text


def main() -> None:
    found = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    missing = [name(cell) for cell in CELLS if name(cell) not in found]
    for start in range(0, len(missing), 8):
        measure(missing[start : start + 8], found)
        MEASURED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        print(f"{len(found)} of {len(CELLS)}", flush=True)
    page = (HERE / "page.md").read_text()
    for key, made in {"eager": grid_table(found, "eager"), "sdpa": grid_table(found, "sdpa"), "categories": category_table(found), "law": law_table(found)}.items():
        page = page.replace("{" + key + "}", made.rstrip())
    (HERE / "RESULTS.md").write_text(page)


if __name__ == "__main__":
    main()
