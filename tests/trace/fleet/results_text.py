# SPDX-License-Identifier: Apache-2.0
"""RESULTS.md out of what make_results.py found."""

import datetime
from typing import Any

HEAD = """# Fleets: what is found, what two engines say, what it costs, what breaks

Made by `tests/trace/fleet/make_results.py` on {date}; {hardware}. The made-up runs descend from {real} real short runs on the
simulated GPU (`generator/settings.py`), whose peaks are those that PyTorch counted. The truth of each made-up run was
written before there was a summary of it ([generator](generator/plan.py)).
"""


def _planted(parts: dict[str, Any]) -> list[str]:
    lines = ["## What was planted, and what the report says", ""]
    for one in parts["planted"]:
        mended, failed = one["remedies"]
        lines += [f"Seed {one['seed']}, {one['runs']:,} runs:", "",
                  "| question | planted | found | recall | false alarms |", "| --- | ---: | ---: | ---: | ---: |",
                  *one["lines"], "",
                  f"For {mended} of {failed} runs that ran out of memory it names a change that gets past that, or the leak.",
                  ""]
    return lines


def _agreement(parts: dict[str, Any]) -> list[str]:
    if not parts["agreement"]:
        return []
    lines = ["## DuckDB and Spark, row by row", "",
             "All values of all rows, in order. Doubles may differ in their last digits, as sums depend on the order of "
             "adding: up to 1e-9 is the same.", "",
             "| Spark | view | rows | values | not the same | doubles with other last digits | largest difference |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, views in parts["agreement"].items():
        lines += [f"| {name} | {one['view']} | {one['rows']:,} | {one['values']:,} | {len(one['different'])} "
                  f"| {one['unequal_doubles']} | {one['largest']:.1e} |" for one in views]
    return [*lines, ""]


def _cost_table(rows: list[dict[str, Any]]) -> list[str]:
    views = [name for name in rows[0]["steps"] if name != "open"]
    lines = ["| runs | files | MB | opened " + "".join(f"| {name} " for name in views) + "| MiB |",
             "| ---: " * (5 + len(views)) + "|"]
    for one in rows:
        cells = [f"{one['steps'][name]['wall_s']:.2f} / {one['steps'][name]['cpu_s']:.2f}" for name in ("open", *views)]
        memory = [f"{one['peak_mib']:.0f}"]
        lines.append(f"| {one['runs']:,} | {one['files']:,} | {one['bytes'] / 1e6:.0f} | " + " | ".join(cells + memory) + " |")
    return [*lines, ""]


def _costs(parts: dict[str, Any]) -> list[str]:
    loads = [one["load"] for one in parts["duckdb"] + parts["spark"]]
    lines = ["## What a question costs", "",
             "Seconds that passed / seconds of processor. `opened`: files listed, checked, and the tables made; then each "
             f"question once. **Others used the machine meanwhile** (load {min(loads):.0f} to {max(loads):.0f} on its cores), "
             "so the seconds that passed are too many; those of processor are the ones to compare.", "",
             "DuckDB; MiB is the most memory of the process:", "", *_cost_table(parts["duckdb"])]
    if parts["spark"]:
        lines += ["Spark with two executors of a core each (`local-cluster[2,1,1024]`), the same files that were put together. Seconds "
                  "of processor and MiB are those of all its processes together, the start of Java among `opened`; `projects` is "
                  "asked first, and makes `runs` for the others:", "", *_cost_table(parts["spark"])]
    return lines


def _faults(parts: dict[str, Any]) -> list[str]:
    return ["## Faults", "", "Each tried for real (`faults.py`, `spark_faults.py`): passed means that nothing is "
            "lost, nothing is there twice, nothing half-written is taken for a summary (what a killed writer leaves, "
            "`compact` takes away after an hour).", "", "| what happens | | memtrace says |",
            "| --- | --- | --- |", *(f"| {what} | {how} | {said} |" for what, how, said in parts["faults"]), ""]


def text(parts: dict[str, Any]) -> str:
    head = HEAD.format(date=datetime.date.today().isoformat(), hardware=parts["hardware"], real=parts["real"])
    return "\n".join([head, *_planted(parts), *_agreement(parts), *_costs(parts), *_faults(parts)]).rstrip() + "\n"
