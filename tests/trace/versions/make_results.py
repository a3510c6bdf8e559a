# SPDX-License-Identifier: Apache-2.0
"""Trains under every version of PyTorch and Python, compares; writes RESULTS.md.

python tests/trace/versions/make_results.py [--into FILE] [--torch VERSION…] [--python VERSION…] [--discard]

--discard: an environment that this run made is removed again after its runs (2 GB each).
Rows of versions that are not asked for are kept as FILE has them.
"""

import argparse
import datetime
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import environments  # noqa: E402
import runs  # noqa: E402
import version_runs  # noqa: E402

HEAD = """# Versions of PyTorch and Python

Each pair trains once under each setting (2.6, 2.8, 2.11 and 2.15; the others under one Python and the
default setting): a transformer with AdamW, an LSTM, side streams and a CUDA
graph in one process (tests/trace/versions/training.py), on the {where}, the unmodified wheel, with
PyTorch's own recorder beside libmemtrace.so. Compared without tolerance as in
[tests/trace/training](../training/RESULTS.md): every event, its Python frames, totals, peaks, statistics,
segments, blocks and private pools at the end. "replay" is whether the model of the allocator
(written from PyTorch 2.11) did the same at every request. 2.3.1 trains no LSTM: it would ask for
functions of cuDNN 8, and the simulator has those of cuDNN 9. The replay of 2.12.1 was run
three times and its first difference looked at once: of two free blocks of the same size it had taken the
higher, where the model takes the lower address. 19 steps instead of 20: the first began
before the agent, on a busy machine. Made by `scripts/versions`, last on {date}.

| PyTorch | CUDA | Python | setting | events | different events | frames | different stacks | totals | different totals | different statistics | peak allocated | peak reserved | steps | unknown at the peak | replay |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
"""
COLUMNS = 16


def row(version: environments.Version, setting: str, run: version_runs.Run) -> list:
    found, report = run.found, run.report
    device = report["devices"][0]
    unknown = sum(one["bytes"] for one in device["at_peak"]["categories"]
                  if one["category"] == "unknown")
    return [
        version.torch, version_runs.cuda_of(run), version.python, setting, found.events,
        found.missing + found.extra + found.different, found.frames, found.different_stacks,
        found.totals, found.different_totals, len(found.different_stats),
        device["peak_allocated_bytes"], device["peak_reserved_bytes"], report["steps"]["count"],
        unknown, run.replay_differs or "exact",
    ]


def line(cells: list) -> str:
    text = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells)
    return "| " + " | ".join(text) + " |"


def not_run(version: environments.Version, why: str) -> str:
    return line([version.torch, "", version.python, why, *[""] * (COLUMNS - 4)])


def kept_rows(file: Path) -> dict[tuple, list[str]]:
    rows: dict[tuple, list[str]] = {}
    for text in file.read_text().splitlines() if file.exists() else []:
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        if len(cells) == COLUMNS and cells[0] in environments.TORCH:
            rows.setdefault((cells[0], cells[2]), []).append(text)
    return rows


def rows_of(version: environments.Version, failures: list[str]) -> list[str]:
    try:
        environments.installed(version)
    except environments.Unavailable as why:
        return [not_run(version, f"{why}")]
    rows = []
    for setting in version_runs.settings_of(version):
        try:
            with tempfile.TemporaryDirectory() as folder:
                run = version_runs.run_one(version, setting, Path(folder))
        except Exception as error:  # one that fails must not hide the others
            rows.append(not_run(version, f"{setting}: failed"))
            failures.append(f"{version.name}, {setting}: {str(error)[-1500:]}")
            continue
        rows.append(line(row(version, setting, run)))
        failures += [f"{version.name}, {setting}: {text}" for text in run.found.shown]
    return rows


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--torch", nargs="+", default=environments.TORCH)
    parser.add_argument("--python", nargs="+")
    parser.add_argument("--discard", action="store_true")
    chosen = parser.parse_args()
    rows, failures = kept_rows(chosen.into), []
    for torch in chosen.torch:
        thoroughly = torch in environments.THOROUGHLY
        pythons = environments.PYTHONS if thoroughly else [environments.ONE_PYTHON]
        for python in chosen.python or pythons:
            version = environments.Version(torch, python)
            was_there = version.folder.exists()
            rows[torch, python] = rows_of(version, failures)
            print(*rows[torch, python], sep="\n", file=sys.stderr, flush=True)
            if chosen.discard and not was_there:
                shutil.rmtree(version.folder, ignore_errors=True)
    where = "machine's GPU" if runs.on_real_gpu() else f"simulated {runs.GPU}"
    text = HEAD.format(where=where, date=datetime.date.today().isoformat())
    pairs = [(torch, python) for torch in environments.TORCH for python in environments.PYTHONS]
    text += "".join(one + "\n" for pair in pairs for one in rows.get(pair, []))
    if failures:
        text += "\n## What differs\n\n" + "\n".join(f"- {item}" for item in failures) + "\n"
    chosen.into.write_text(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
