# SPDX-License-Identifier: Apache-2.0
"""The guides' claims about host memory and DataLoader workers, each with the runs that show it."""

import json
import sys
from pathlib import Path

from claims import CONFIRMED, CORRECTED, GB, REFUTED, Claim, gb, not_here

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.support import runs

PROGRAM = Path(__file__).with_name("workers.py")


def report_of(measure, workers: int) -> dict:
    kept = measure.directory / f"with_{workers}_workers.json"
    if not kept.exists():
        output = measure.directory / kept.stem
        output.mkdir(exist_ok=True)
        outcome = runs.run([runs.python(), str(PROGRAM), str(workers)], output, gpu="rtx3090", timeout=900).expect(0)
        main = max(outcome.traces, key=lambda each: each.stat().st_size)
        report = runs.report([main], output)
        kept.write_text(json.dumps({"host": report["host"], "gpu": report["devices"][0]["peak_reserved_bytes"]}))
    return json.loads(kept.read_text())


def per_worker(measure):
    host = report_of(measure, 8)["host"]
    peaks = [each["peak_pss_bytes"] for each in host["workers"]]
    mean = sum(peaks) / len(peaks)
    return CONFIRMED if 1.5 * GB <= mean <= 2 * GB else CORRECTED, (
        f"8 workers, a corpus of 20,000 texts: {gb(mean)} each by PSS (shared pages counted once)")


def half_the_workers(measure):
    eight, four = (report_of(measure, each)["host"]["peak_bytes"] for each in (8, 4))
    return CORRECTED if eight > four else REFUTED, (
        f"8 → 4 workers: host {gb(eight)} → {gb(four)}; the saving is what a worker holds of its own, measured, "
        "not 2 GB")


def first_of_all(measure):
    eight, four = (report_of(measure, each)["gpu"] for each in (8, 4))
    return REFUTED if four >= eight else CORRECTED, (
        f"8 → 4 workers: reserved on the GPU {gb(eight)} → {gb(four)}: they cost host memory only")


HOST = [
    Claim("saving memory", "a DataLoader worker takes 1.5 to 2 GB", per_worker),
    Claim("saving memory", "half the workers (32 → 16) save ~32 GB", half_the_workers),
    Claim("saving memory", "workers first: \"the most effective\" step", first_of_all),
    Claim("saving memory", "\"killed by signal 9\": fewer workers", not_here(
        "the kernel's killer was not set off here; host and limit are in the report")),
    Claim("saving memory", "workers = cores / 3, persistent workers, pinned memory", not_here(
        "about speed; pinned and worker memory of a run are in its report")),
    Claim("saving memory", "targets: GPU 70 to 85 %, host below 80 % of its limit", not_here(
        "a rule to choose by: the report shows the room that is left to it")),
    Claim("saving memory", "BrokenPipe in one-epoch mode", not_here("not about memory")),
    Claim("record of changes", "57 GB of 60 GB: once over the limit, once within", lambda measure: (
        REFUTED, "the same figure twice; the record itself observed about 40 GB")),
    Claim("record of changes", "effective batches 80, 48 and 48", lambda measure: (
        CORRECTED, f"{20 * 2}, {16 * 2} and {12 * 2}, as its own table says")),
    Claim("record of changes", "throughput 6.25 → 4.17 samples/s, −33 %", lambda measure: (
        CORRECTED, f"20 × 2 × 8 a minute is {20 * 2 * 8 / 60:.2f}, 12 × 2 × 8 is {12 * 2 * 8 / 60:.2f}: "
                   f"−{1 - 12 / 20:.0%}")),
]
