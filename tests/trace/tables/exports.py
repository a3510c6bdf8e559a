# SPDX-License-Identifier: Apache-2.0
"""Exports as tables, and what the report says of the same run, in the shapes in which tables answer."""

import subprocess
from pathlib import Path

import runs

TABLES = ("processes", "devices", "events", "blocks", "steps", "phases", "sites", "frames", "stacks", "modules",
          "verdicts", "culprits", "keepers", "fragmentation", "advice", "oom")


def command(traces: list, form: str, target: Path, *options: str) -> subprocess.CompletedProcess:
    line = [runs.memtrace(), "export", *traces, "--format", form, "-o", target, *options]
    return subprocess.run([str(part) for part in line], capture_output=True, text=True, check=False,
                          env=runs.environment({"MEMTRACE_PYTHON": runs.python()}))


def export(traces: list, form: str, target: Path, *options: str) -> Path:
    done = command(traces, form, target, *options)
    assert done.returncode == 0, done.stderr
    assert "wrote" in done.stderr
    return target


def by_category(report: dict) -> dict:
    return {(device["rank"], row["category"]): row["bytes"]
            for device in report["devices"] for row in device["at_peak"]["categories"]}


def by_module(report: dict) -> dict:
    return {(device["rank"], row["root"], row["path"]): row["total_bytes"]
            for device in report["devices"] for row in device["at_peak"]["modules"] if row["total_bytes"]}


def rates(report: dict) -> dict:
    """The shape and rate of each verdict."""
    ranks = {process["run"]["pid"]: process["run"]["rank"] for process in report["processes"]}
    return {(ranks[verdict["pid"]], verdict["subject"]): (verdict["shape"], verdict["bytes_per_step"])
            for verdict in report["verdicts"]}


def step_rows(report: dict) -> list:
    """rank, step, end_event, end_allocated_bytes, peak_event, peak_allocated_bytes"""
    ranks = {process["run"]["pid"]: process["run"]["rank"] for process in report["processes"]}
    return sorted((ranks[series["pid"]], number, step["end_event"], step["end_allocated_bytes"], step["peak_event"],
                   step["peak_allocated_bytes"])
                  for series in report["steps"]["series"] for number, step in enumerate(series["steps"]))


# Asked of the tables of Arrow and Parquet; SQLite's views say the same.
PEAK_BY_CATEGORY = """
SELECT b.rank, CASE WHEN category_since_event > peak_allocated_event THEN category_before ELSE category END AS what,
  CAST(sum(block_bytes) AS BIGINT) AS bytes
FROM blocks b JOIN devices d ON b.process = d.process AND b.device = d.device
WHERE allocated_event <= peak_allocated_event
  AND (freed_event IS NULL OR freed_event > peak_allocated_event)
GROUP BY 1, 2"""
PEAK_BY_MODULE = """
SELECT b.rank, root, module, CAST(sum(block_bytes) AS BIGINT) AS bytes
FROM blocks b JOIN devices d ON b.process = d.process AND b.device = d.device
WHERE allocated_event <= peak_allocated_event
  AND (freed_event IS NULL OR freed_event > peak_allocated_event)
GROUP BY 1, 2, 3"""
STEPS = """
SELECT rank, step, end_event, end_allocated_bytes, peak_event, peak_allocated_bytes FROM steps ORDER BY 1, 2"""


def at_event(trace: Path, event: int, folder: Path) -> dict:
    """Bytes by category right after an event, as the report has them."""
    import json

    target = folder / "moment.json"
    subprocess.run([str(runs.memtrace()), "report", str(trace), "--at", f"event:{event}", "--json", str(target)],
                   check=True, capture_output=True, env=runs.environment())
    device, = json.loads(target.read_text())["devices"]
    return {row["category"]: row["bytes"] for row in device["at_moment"]["categories"]}


def differences(opened, report: dict) -> list[str]:
    """The answers of a database that differ from the report."""
    def ask(query: str) -> list:
        return opened.execute(query).fetchall()

    events, = ask("SELECT count(*) FROM events")[0]
    peaks = {(device["pid"], device["index"]): (device["peak_allocated_bytes"], device["peak_reserved_bytes"])
             for device in report["devices"]}
    pairs = {
        "events": (events, sum(one["completeness"]["events"] for one in report["processes"])),
        "categories": ({row[:2]: row[2] for row in ask("SELECT rank, category, bytes FROM peak_by_category")},
                       by_category(report)),
        "modules": ({row[:3]: row[3] for row in ask("SELECT rank, root, module, bytes FROM peak_by_module"
                                                    " WHERE root IS NOT NULL")},
                    {key: size for key, size in by_module(report).items() if key[1] is not None}),
        "peaks": ({row[:2]: row[2:] for row in ask(
            "SELECT pid, device, peak_allocated_bytes, peak_reserved_bytes FROM devices")}, peaks),
        "reserved": (dict(ask("SELECT device, max(reserved_bytes) FROM events WHERE reserved_bytes IS NOT NULL"
                              " GROUP BY 1")),
                     {key[1]: value[1] for key, value in peaks.items() if value[1]}),
        "allocated": ({row[0]: row[1] for row in ask(
            "SELECT device, sum(bytes) FROM peak_by_category GROUP BY 1")},
            {key[1]: value[0] for key, value in peaks.items() if value[0]}),
        "steps": ([tuple(row) for row in ask(STEPS)], step_rows(report)),
        "verdicts": ({row[:2]: row[2:] for row in ask("SELECT rank, subject, shape, bytes_per_step FROM verdicts")},
                     rates(report)),
        "oom": (ask("SELECT event, requested_bytes FROM oom"),
                [(one["event"], one["requested_bytes"]) for one in report["oom"]]),
    }
    return [f"{what}: {ours} instead of {theirs}" for what, (ours, theirs) in pairs.items() if ours != theirs]
