# SPDX-License-Identifier: Apache-2.0
"""The results as Markdown."""

import check_constants
import machine


def cell(value: object) -> str:
    return str(value).replace("|", "/").replace("\n", " ")


def table(head: list[str], rows: list[list]) -> list[str]:
    return ["", "| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |",
            *("| " + " | ".join(cell(value) for value in row) + " |" for row in rows)]


def failure(one: dict) -> str | None:
    return one.get("error") if isinstance(one.get("error"), str) else one.get("failure")


def of_identical(done) -> list[str]:
    return table(["program", "with memtrace and without"],
                 [[one["program"], f"same (exit status {one['exit_status']}, {one['traces']} traces)"
                   if one["same"] else f"differs: {one['how']}"] for one in done.results])


def of_events(done) -> list[str]:
    snapshots, cupti = [], []
    for one in done.results:
        start = [one["program"], one["setting"]]
        if one.get("witness"):
            alone = failure(one) or not one["both"]
            cupti.append([*start, failure(one) or one["verdict"], *([] if alone else [
                one["both"]["allocations"], one["both"]["releases"],
                len(one["missed_by_cupti"]), len(one["missed_by_hooks"])])])
        elif failure(one):
            snapshots.append([*start, failure(one), "", ""])
        else:
            snapshots.append([*start, f"{one['events']:,}", f"{one['differences']:,}",
                              f"{one['frames']:,}"])
    return (table(["program", "setting", "events", "differences to the snapshot", "frames"],
                  snapshots)
            + table(["program", "setting", "hooks and CUPTI saw", "allocations both saw", "releases",
                     "missed by CUPTI", "missed by the hooks"], cupti))


def of_sum(done) -> list[str]:
    rows = []
    for one in done.results:
        used = one.get("report")
        rows.append([one["case"], failure(one) or "", "", "", "", ""] if not used else [
            one["case"], f"{one['mem_get_info_used']:,}", f"{one.get('nvml_used') or 0:,}",
            f"{one.get('nvml_own') or 0:,}",
            f"{used['used_bytes']:,}", f"{one['unexplained_bytes']:,}"])
    return table(["program", "cudaMemGetInfo", "NVML", "NVML, this process", "the report's sum",
                  "of it unexplained"], rows)


def of_cost(done) -> list[str]:
    return table(["model", "pairs", "step, bare", "ratio, median", "lowest", "highest"], [
        [one["model"], failure(one), "", "", "", ""] if failure(one) else [
            one["model"], len(one["pairs"]),
            f"{1000 * min(pair['bare_seconds'] for pair in one['pairs']):.2f} ms",
            *(f"{one[key]:.3f}" for key in ("median_ratio", "lowest_ratio", "highest_ratio"))]
        for one in done.results])


def of_peaks(done) -> list[str]:
    rows = []
    for one in done.results:
        row = [one["program"], one["setting"]]
        for key in ("peak_allocated_bytes", "peak_reserved_bytes"):
            row += [failure(one), ""] if failure(one) else [
                f"{one['real'][key]:,}", f"{one['dry_run'][key]:,} ({one['error'][key]:+.3%})"]
        rows.append(row)
    return table(["program", "setting", "real peak allocated", "dry run", "real peak reserved",
                  "dry run"], rows)


def of_constants(done) -> list[str]:
    rows = [[one["probe"], one.get("constant") or "", failure(one) or f"{one['bytes']:,}"]
            for one in done.results]
    return [*table(["first use of", "the simulator's constant", "bytes"], rows), "",
            f"As a setting: `MEMTRACE_SIM_CONSTANTS={check_constants.setting_of(done)}`"]


def of_samples(done) -> list[str]:
    return table(["sample", "calls recorded", "bare and under the hook", "compute-sanitizer"], [
        [one["sample"], one.get("recorded_calls", 0),
         failure(one) or ("same" if one["same"] else "differs"),
         one.get("sanitizer_traced", "not run")] for one in done.results])


def of_categories(done) -> list[str]:
    return table(["program", "bytes at the peak", "% with a category", "% as the truth has it"], [
        [one["program"], failure(one), "", ""] if failure(one) else [
            one["program"], f"{one['peak_bytes']:,}", f"{one['known']:.2f}", f"{one['agreeing']:.2f}"]
        for one in done.results])


def of_sizes(done) -> list[str]:
    return table(["operations", "tried", "allocate the same", "differ, for example"], [
        [one["family"], failure(one), "", ""] if failure(one) else [
            one["family"], one["operations"], one["equal"], "; ".join(list(one["differ"])[:3])]
        for one in done.results])


BODIES = {"a": of_identical, "b": of_events, "c": of_sum, "d": of_cost, "e": of_peaks,
          "f": of_constants, "g": of_samples, "h": of_categories, "i": of_sizes}


def of(facts: dict, checks: list[machine.Check], spent: list[dict]) -> str:
    where = "a simulated " if facts["simulated"] else ""
    text = [
        f"# {where}{facts['gpu']}: measured on {facts['date']}".replace("# a", "# A"), "",
        f"Driver {facts['driver']}, torch {facts['torch']} (CUDA {facts['cuda']}), Python "
        f"{facts['python']}, {facts['total_bytes']:,} bytes; made by `scripts/verify_gpu"
        f"{' --simulated' if facts['simulated'] else ''}{' --quick' if facts['quick'] else ''}`.",
        *table(["check", "outcome", "unverified here"], [
            [f"({check.letter}) {check.title}", check.status, "; ".join(check.unverified)]
            for check in checks]),
        *table(["part", "on", "programs", "seconds", "not reached"], [
            [one["part"], one["date"], one["programs"], one["seconds"], ", ".join(one["left"])]
            for one in spent]),
    ]
    for check in checks:
        text += ["", f"## ({check.letter}) {check.title}"]
        if check.results:
            text += BODIES[check.letter](check)
        if check.wrong or check.skipped:
            text.append("")
        text += [f"- wrong: {cell(one)}" for one in check.wrong]
        text += [f"- skipped: {cell(one)}" for one in check.skipped]
    return "\n".join(text) + "\n"
