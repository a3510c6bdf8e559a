# SPDX-License-Identifier: Apache-2.0
"""docs/fleet_scale.md: scale_template.md with what make_results.py measured, and what follows from it."""

import datetime
from pathlib import Path
from typing import Any

RUNS = 10**7  # a day
EVENTS = 100_000  # a run
CORE_HOUR_USD, MONTH_GB_USD, AT_WORK, CORES = 0.05, 0.023, 0.7, 4
READ = 100e6  # bytes a second and core
FILE = 512e6
# The lists that a view needs besides those that `runs` is made of.
OF_RUNS = ("", "devices", "verdicts")  # the row's own columns are ""
BESIDE: dict[str, tuple[str, ...]] = {
    "projects": (), "leaking_runs": ("culprits",), "failed_runs": ("out_of_memory", "advice", "combined"),
    "wasted_gpus": (), "smaller_gpus": (), "fragmented_runs": ("fragmentation",), "regressions": ()}
DAYS = {"regressions": 2}


def _cpu(row: dict[str, Any], view: str) -> float:
    return row["steps"][view]["cpu_s"]


def _growth(rows: dict[int, dict[str, Any]], view: str) -> float:
    """Seconds a run, from the middle size to the largest; below zero is noise."""
    middle, most = sorted(rows)[-2:]
    return max(0.0, (_cpu(rows[most], view) - _cpu(rows[middle], view)) / (most - middle))


def _said(values: dict[str, float], form: str) -> str:
    return ", ".join(f"`{name}` {value:{form}}" for name, value in sorted(values.items(), key=lambda one: one[1]))


def _by_size(duck: dict[int, dict[str, Any]], spark: dict[int, dict[str, Any]]) -> str:
    lines = ["| runs | engine | opened " + "".join(f"| {view} " for view in BESIDE) + "|", "| ---: | --- " + "| ---: " * (1 + len(BESIDE)) + "|"]
    for count in sorted(duck):
        for name, rows in (("DuckDB", duck), ("Spark", spark)):
            lines.append(f"| {count:,} | {name} | " + " | ".join(f"{_cpu(rows[count], one):.2f}" for one in ("open", *BESIDE)) + " |")
    return "\n".join(lines)


def _columns(columns: dict[str, float]) -> str:
    named = [(name or "the row's own", size) for name, size in sorted(columns.items(), key=lambda one: -one[1])]
    return ", ".join(f"{name if ' ' in name else f'`{name}`'} {size / 1e3:.1f}" for name, size in named[:9]) + ", all others less"


def _questions(columns: dict[str, float], spark: dict[int, dict[str, Any]]) -> dict[str, Any]:
    largest = spark[max(spark)]
    base = sum(columns.get(name, 0.0) for name in OF_RUNS)
    lines, low, high, read = [], 0.0, 0.0, 0.0
    for view, beside in BESIDE.items():
        runs = RUNS * DAYS.get(view, 1)
        size = base + sum(columns.get(name, 0.0) for name in beside)
        hours = [each * runs / 3600 for each in (_growth(spark, view), _cpu(largest, view) / largest["runs"])]
        moved = largest["steps"][view]["shuffled"] / largest["runs"] * runs
        executors = hours[1] * 60 / AT_WORK / CORES
        low, high, read = low + min(hours), high + max(hours), read + size * runs
        lines.append(f"| `{view}`{', two days' if view in DAYS else ''} | {', '.join(f'`{one}`' for one in beside) or '–'} "
                     f"| {size / 1e3:.1f} | {size * runs / 1e9:.0f} | {moved / 1e9:.1f} | {min(hours):.1f} to {max(hours):.1f} "
                     f"| {executors:.0f} |")
    return {"views": "\n".join(lines), "base_kb": base / 1e3, "all_low": low, "all_high": high, "all_gb": read / 1e9,
            "read_hours": read / READ / 3600, "all_usd": (high + read / READ / 3600) / AT_WORK * CORE_HOUR_USD}


def text(parts: dict[str, Any]) -> str:
    together = {one["runs"]: one for one in parts["duckdb"] if one["files"] < one["runs"]}
    single = {one["runs"]: one for one in parts["duckdb"] if one["files"] == one["runs"]}
    spark = {one["runs"]: one for one in parts["spark"]}
    most = max(together)
    # As the template says.
    assert all(_cpu(together[count], view) < _cpu(spark[count], view) for count in together for view in BESIDE)
    columns = parts["single"]["sizes"]["columns"]
    file, column = parts["single"]["sizes"]["file"], sum(columns.values())
    made = together[most]["bytes"] / most
    reports, alone = parts["single"]["reports"], parts["single"]["add_alone_s"]
    open_s = (_cpu(single[most], "open") - _cpu(together[most], "open")) / (most - together[most]["files"])
    add_each = parts["single"]["add_together_s"] / len(reports)
    around = max(0.0, add_each - sum(one["cpu_s"] for one in reports) / len(reports))
    report_s = EVENTS * reports[-1]["cpu_s"] / reports[-1]["events"]
    hours = RUNS * (report_s + around) / 3600
    moving, opening = RUNS * (file + column) / READ / 3600, RUNS * open_s / 3600
    traces = max(one["trace_bytes"] for one in reports)
    year = RUNS * column * 365
    grew = [1e6 * _growth(rows, view) for rows in (spark, together) for view in BESIDE]
    return (Path(__file__).resolve().parent / "scale_template.md").read_text().format(
        date=datetime.date.today().isoformat(), hardware=parts["hardware"], real=parts["real"], chosen=len(reports),
        file_kb=file / 1e3, footer_kb=parts["single"]["sizes"]["footer"] / 1e3, columns_kb=column / 1e3, made_kb=made / 1e3,
        columns_said=_columns(columns), trace_mb=traces / 1e6, trace_tb=traces * RUNS / 1e12,
        reports_said=", ".join(f"{one['cpu_s']:.2f} s on {one['events']:,} events" for one in reports),
        add_each_s=add_each, alone_low_s=min(alone), alone_high_s=max(alone), open_ms=1e3 * open_s,
        many_ms=1e3 * (_cpu(together[most], "open") - _cpu(together[min(together)], "open")) / (most - min(together)),
        single_open_s=_cpu(single[most], "open"), single_mib=single[most]["peak_mib"], many_files=together[most]["files"],
        many_open_s=_cpu(together[most], "open"), many_mib=together[most]["peak_mib"],
        duck_said=_said({one: 1e6 * _cpu(together[most], one) / most for one in BESIDE}, ".0f"),
        spark_said=_said({one: 1e6 * _cpu(spark[most], one) / most for one in BESIDE}, ".0f"),
        shuffle_said=_said({one: spark[most]["steps"][one]["shuffled"] / most for one in BESIDE}, ".0f"),
        by_size=_by_size(together, spark), growth_low=min(grew[:len(BESIDE)]), growth_high=max(grew[:len(BESIDE)]),
        duck_growth_low=min(grew[len(BESIDE):]), duck_growth_high=max(grew[len(BESIDE):]),
        events_most=reports[-1]["events"], report_s=report_s, around_s=around, run_s=report_s + around,
        single_gb=RUNS * file / 1e9, single_year_tb=RUNS * file * 365 / 1e12, many_gb=RUNS * column / 1e9,
        many_year_tb=year / 1e12, made_gb=RUNS * made / 1e9, made_year_tb=RUNS * made * 365 / 1e12,
        month_usd=year / 1e9 * MONTH_GB_USD, year_usd=year / 1e9 * MONTH_GB_USD / 30, open_hours=opening, moving_hours=moving,
        files_a_day=RUNS * column / FILE, sum_hours=hours, sum_cores=hours / 24, sum_held=hours / 24 / AT_WORK,
        sum_executors=hours / 24 / AT_WORK / CORES, sum_usd=hours / AT_WORK * CORE_HOUR_USD,
        together_hours=opening + moving, together_usd=(opening + moving) / AT_WORK * CORE_HOUR_USD,
        **_questions(columns, spark))
