# SPDX-License-Identifier: Apache-2.0
"""One command for the table before and after: a program with several sets of arguments, each tried by a dry run.

    python tests/answers/fit/guides/matrix.py --gpu rtx3090 --limit 60GiB --setting 'first=--batch 20 --evaluation-batch 48' \\
        --setting 'second=--batch 12 --evaluation-batch 16' -- python train.py --epochs 1

Prints a row a measured part, a column a setting: the GPU's categories at its peak, what is left of it, what the
program's processes held of the host, and what is left of the limit. How many workers there were is counted ten times a
second; what they hold is looked at more rarely, as looking is costly (docs/host.md), and where many come within seconds some
are never looked at: these are put in with the mean of the others, and the row says so.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "support"))

import runs  # noqa: E402

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def size(text: str) -> float:
    return float(text[:-3]) * UNITS[text[-3:]]


def workers_at_once(traces: list[Path]) -> int:
    """Adds up the most that the recorder counted in each process; lines are read as they come: there may be millions."""
    total = 0
    for trace in traces:
        most = 0
        with subprocess.Popen([str(runs.memtrace()), "dump", "--no-stacks", str(trace)], stdout=subprocess.PIPE, text=True,
                              env=runs.environment()) as dump:
            for line in dump.stdout:
                if '"memtrace.host.workers"' in line:
                    most = max(most, int(json.loads(line)["value"]))
        total += most
    return total


def tried(gpu: str, command: list[str]) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        line = [str(runs.memtrace()), "dry-run", "--no-report", "--gpu", gpu, "--output", folder, "--", *command]
        ended = subprocess.run(line, env=runs.environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False)
        traces = runs.traces_in(Path(folder))
        if not traces:
            sys.exit(ended.stderr.decode(errors="replace")[-3000:])
        return runs.report(traces, Path(folder)) | {"workers_at_once": workers_at_once(traces)}


def column(report: dict, limit: float) -> dict[str, str]:
    device, host = report["devices"][0], report["host"]
    outside = sum(each["bytes"] for each in device["outside_pool"])
    used = device["peak_reserved_bytes"] + outside
    rows = {each["category"].replace("_", " "): each["bytes"] for each in device["at_peak"]["categories"]}
    shown = {f"GPU: {name}": count for name, count in rows.items()}
    shown |= {"GPU: in use at most, with the context": used, "GPU: left": device["capacity_bytes"] - used}
    text = {name: f"{count / 1e9:.2f} GB" for name, count in shown.items()}
    text["GPU: ran out of memory"] = "yes" if report["oom"] else "no"
    workers, seen = report["workers_at_once"], [each["peak_pss_bytes"] for each in host["workers"]]
    unseen = max(workers - len(seen), 0)
    if host["peak_bytes"] is not None:
        most = host["peak_bytes"] + (unseen * sum(seen) // len(seen) if seen else 0)
        text["host: at most, program and workers"] = f"{most / 1e9:.2f} GB"
        text["host: left of the limit"] = f"{(limit - most) / 1e9:.2f} GB"
    text["host: workers at once, and those not looked at"] = f"{workers}, {unseen}"
    text["host: the most that one worker held of its own"] = f"{max(seen) / 1e9:.2f} GB" if seen else "–"
    text["host: pinned"] = f"{host['pinned_peak_bytes'] / 1e9:.2f} GB"
    return text


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", default="rtx3090")
    parser.add_argument("--limit", default="60GiB", help="of the host's memory, for the whole container")
    parser.add_argument("--setting", action="append", required=True, help="NAME=ARGUMENTS")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    command = chosen.command[1:] if chosen.command[:1] == ["--"] else chosen.command
    columns = {}
    for each in chosen.setting:
        name, _, arguments = each.partition("=")
        columns[name] = column(tried(chosen.gpu, [*command, *shlex.split(arguments)]), size(chosen.limit))
    names = list(dict.fromkeys(row for made in columns.values() for row in made))
    print(f"| {chosen.gpu} | " + " | ".join(columns) + " |\n| --- |" + " ---: |" * len(columns))
    for name in names:
        print(f"| {name} | " + " | ".join(made.get(name, "–") for made in columns.values()) + " |")


if __name__ == "__main__":
    main()
