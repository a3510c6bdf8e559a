# SPDX-License-Identifier: Apache-2.0
"""Every workload under every setting, predicted and run; writes RESULTS.md.

python tests/answers/allocator/what_if/make_results.py [--into FILE] [--folder DIR] [WORKLOAD...]
"""

import argparse
import datetime
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import predictions  # noqa: E402
from predictions import SETTINGS, Case, MemoryVerdict, PeakVerdict  # noqa: E402

# A run is recorded under each of these, on a large GPU; the others are predicted from it.
RECORDED = ["default", "expandable", "max split 32", "roundup 4"]
# Sizes of GPUs around the smallest that is predicted to do, in steps of 2 MiB.
AROUND = [-20, -2, -1, 0]
# Boundaries of these workloads are looked for, recorded under the default.
BOUNDARY_WORKLOADS = ["fixed_shapes", "variable_lengths", "variable_lengths_sgd", "multi_scale",
                      "kv_cache_cat", "prefetch", "growing_sequence"]
BOUNDARY_SETTINGS = ["default", "expandable", "max split 32"]
STEP = 2 << 20
# Those of workloads.py, which needs torch to be read.
NAMES = ["fixed_shapes", "variable_lengths", "variable_lengths_sgd", "multi_scale",
         "train_and_evaluate", "kv_cache_cat", "growing_sequence", "load_and_cast",
         "odd_accumulation", "prefetch", "stack_embeddings", "dynamic_inference",
         "generate_and_train", "empty_cache_each_step", "lstm"]

HEAD = """# What a replay predicts, beside what really happens

Each workload of `workloads.py` was recorded on the simulated GPU under some allocator settings, and
`memtrace replay` predicted from each recording what it would do under others; then it really ran
under those, with unmodified PyTorch {torch}. What happened is what `torch.cuda.memory_stats()` of that
run says. A prediction is a range over several ways in which a driver could give addresses; the simulated
driver gives them in one definite way. Made by `tests/answers/allocator/what_if/make_results.py` on {date}.

"""


def mib(size: int) -> str:
    return f"{size / 2**20:,.1f}"


def peaks(names: list[str], folder: Path) -> list[PeakVerdict]:
    found = []
    cases = [Case(name, setting) for name in names for setting in SETTINGS]
    real = predictions.perform(cases, folder)
    for name in names:
        for recorded in RECORDED:
            trace = folder / f"{Case(name, recorded).name}.mtrace"
            predicted = predictions.predictions(trace, recorded)
            assert predicted[recorded]["exact"], f"{name} recorded under {recorded}: not exact"
            found += [predictions.judge_peak(case, recorded, predicted[case.setting], real[case.name])
                      for case in cases if case.workload == name and case.setting != recorded]
    return found


def boundary(names: list[str], folder: Path) -> list[MemoryVerdict]:
    """Recorded where memory abounds; run where it hardly does."""
    found, wanted = [], []
    for name in names:
        trace = folder / f"{Case(name, 'default').name}.mtrace"
        fits = predictions.predictions(trace, "default", None, BOUNDARY_SETTINGS)
        for setting in BOUNDARY_SETTINGS:
            option = fits[setting]
            outside = predictions.LARGE - option["capacity_bytes"]
            smallest = outside + -(-option["smallest_fit"]["capacity_bytes"] // STEP) * STEP
            wanted += [Case(name, setting, smallest + steps * STEP) for steps in AROUND]
    real = predictions.perform(wanted, folder / "boundary")
    for case in wanted:
        trace = folder / f"{Case(case.workload, 'default').name}.mtrace"
        predicted = predictions.predictions(trace, "default", case.memory, [case.setting])
        found.append(predictions.judge_memory(case, "default", predicted[case.setting],
                                              real[case.name]))
    return found


def peak_table(found: list[PeakVerdict]) -> str:
    lines = [
        "## Peak of reserved memory", "",
        "In MiB. Error: how far the real peak is outside of what was predicted.", "",
        "| workload | recorded under | predicted for | predicted | real | error | retries predicted | real |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in found:
        shown = mib(one.least) if one.least == one.most else f"{mib(one.least)} to {mib(one.most)}"
        lines.append(f"| {one.workload} | {one.recorded} | {one.setting} | {shown} | {mib(one.real)} "
                     f"| {mib(one.error) if one.error else '0'} | {one.retries[0]} | {one.retries[1]} |")
    single = [one for one in found if one.least == one.most]
    wrong = sum(one.error != 0 for one in found)
    summary = (f"{len(found)} pairs of a recording and another setting. {len(single)} predicted as one "
               f"number: {sum(one.error == 0 for one in single)} of them equal to the byte. "
               f"{len(found) - len(single)} as a range: "
               f"{sum(one.error == 0 for one in found if one.least != one.most)} of them hold. "
               f"Outside of what was predicted: {wrong}. Retries differ in "
               f"{sum(one.retries[0] != one.retries[1] for one in found)}.")
    return "\n".join([lines[0], "", summary, *lines[1:]]) + "\n"


def memory_table(found: list[MemoryVerdict]) -> str:
    lines = [
        "| workload | setting | memory | predicted | real | right |",
        "| --- | --- | ---: | --- | --- | --- |",
    ]
    for one in found:
        if one.predicted is None:
            said = "fits"
        else:
            first, last = (one.predicted[key] for key in ("allocations_before", "most_allocations_before"))
            said = f"after {first:,}" if first == last else f"after {first:,} to {last:,}" if last else \
                f"with some addresses, after {first:,} or later"
        real = "fits" if one.real is None else f"after {one.real:,}"
        lines.append(f"| {one.workload} | {one.setting} | {mib(one.memory)} | {said} | {real} "
                     f"| {'yes' if one.right else 'NO'} |")
    decided = [one for one in found if not one.undecided]
    real = Counter(one.real is not None for one in decided)
    summary = (f"{len(found)} runs. In {len(decided)} the prediction was the same whatever the "
               f"addresses ({real[True]} really ran out of memory, {real[False]} did not): "
               f"{sum(one.right for one in decided)} right. In {len(found) - len(decided)} it depended "
               f"on addresses: {sum(one.right for one in found if one.undecided)} hold what happened.")
    head = ["## Out of memory or not, and where", "",
            f"GPUs of sizes around the smallest that was predicted to do. {summary}", "",
            "Memory in MiB; \"after 1,234\": the first refused allocation is the one after so many.", ""]
    return "\n".join(head + lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("workloads", nargs="*")
    wanted = parser.parse_args()
    folder = wanted.folder or Path(tempfile.mkdtemp())
    names = wanted.workloads or NAMES
    peak_verdicts = peaks(names, folder)
    memory_verdicts = boundary([name for name in BOUNDARY_WORKLOADS if name in names], folder)
    text = (HEAD.format(torch="2.11.0", date=datetime.date.today()) + peak_table(peak_verdicts) + "\n"
            + memory_table(memory_verdicts))
    wanted.into.write_text(text)
    bad = [one for one in peak_verdicts if one.error] + [one for one in memory_verdicts if not one.right]
    for one in bad:
        print(one)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
