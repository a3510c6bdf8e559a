# SPDX-License-Identifier: Apache-2.0
"""Writes bench/TABLES.md: time, memory and size of `memtrace export` as SQLite, Arrow and Parquet, for trainings of one
and of ten million events, and how long a question to each takes.

Usage: bench/tables.py [FOLDER]     FOLDER keeps the recorded runs and the exports, for the next time"""

import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recording import BUILD, ROOT, command

SIZES = (10_000_000, 1_000_000)
FORMS = ("parquet", "arrow", "sqlite")
AT_PEAK = """allocated_event <= peak_allocated_event AND (freed_event IS NULL OR freed_event > peak_allocated_event)"""
PEAK = f"SELECT sum(block_bytes) FROM blocks JOIN devices USING (process, device) WHERE {AT_PEAK}"


@dataclass
class Row:
    events: int
    form: str
    seconds: float
    cpu_s: float
    memory: int
    bytes: int
    asked_s: float

    def text(self) -> str:
        return (f"| {self.events:,} | {self.form} | {self.seconds:.1f} s | {self.cpu_s:.1f} s | {self.memory / 2**20:.0f} MiB | "
                f"{self.bytes / 1e6:.1f} MB | {self.bytes / self.events:.1f} | {self.asked_s:.2f} s |")


def recorded(events: int, folder: Path) -> Path:
    """The trace of one run; made before, it is taken again."""
    if not list(folder.glob("*.mtrace")):
        folder.mkdir(parents=True, exist_ok=True)
        program = [sys.executable, str(ROOT / "bench/page_training.py"), str(events)]
        subprocess.run([*command(True, str(folder)), *program], check=True, capture_output=True)
    trace, = folder.glob("*.mtrace")
    return trace


def exported(trace: Path, form: str, target: Path) -> tuple[float, float, int]:
    """Seconds, seconds of CPU, and the most memory of the command or of the Python that it starts."""
    begun = time.monotonic()
    started = subprocess.Popen([BUILD / "memtrace", "export", trace, "--format", form, "-o", target, "--force"],
                               stderr=subprocess.DEVNULL, env={**os.environ, "MEMTRACE_PYTHON": sys.executable})
    _, status, used = os.wait4(started.pid, 0)
    assert status == 0, f"{form}: {status}"
    return time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def asked(form: str, target: Path) -> tuple[int, float]:
    """In a process of its own: what a process holds counts as the memory of what it starts next."""
    done = subprocess.run([sys.executable, __file__, "--ask", form, target], check=True, capture_output=True, text=True)
    answer, seconds = done.stdout.split()
    return int(answer), float(seconds)


def ask(form: str, target: Path) -> None:
    """Prints the peak, from the blocks, and how long that took."""
    import duckdb

    begun = time.monotonic()
    if form == "sqlite":
        import sqlite3

        answer, = sqlite3.connect(target).execute(PEAK).fetchone()
    else:
        opened = duckdb.connect()
        for name in ("blocks", "devices"):
            if form == "parquet":
                opened.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{target}/{name}.parquet')")
            else:
                import pyarrow.feather

                opened.register(name, pyarrow.feather.read_table(target / f"{name}.arrow"))
        answer, = opened.execute(PEAK).fetchone()
    print(answer, time.monotonic() - begun)


def measure(events: int, folder: Path) -> Iterator[Row]:
    trace = recorded(events, folder)
    told = folder / "report.json"
    subprocess.run([BUILD / "memtrace", "report", trace, "--json", told], check=True, capture_output=True)
    report = json.loads(told.read_text())
    for form in FORMS:
        target = folder / f"run-{form}"
        seconds, cpu_s, memory = exported(trace, form, target)
        files = target.iterdir() if target.is_dir() else [target]
        answer, asked_s = asked(form, target)
        assert answer == report["devices"][0]["peak_allocated_bytes"], f"{form}: {answer}"
        yield Row(report["completeness"]["events"], form, seconds, cpu_s, memory,
                  sum(file.stat().st_size for file in files), asked_s)


def main(folder: Path) -> None:
    load = os.getloadavg()[0]
    rows: list[Row] = []
    for events in SIZES:
        for row in measure(events, folder / str(events)):
            rows.append(row)
            write_page(rows, load)


def write_page(rows: list[Row], load: float) -> None:
    page = f"""# What exports as tables cost

Made by `bench/tables.py` on {datetime.date.today()}, on {os.cpu_count()} cores ({platform.machine()}).
The machine's load was {load:.0f} when it began: what else ran there makes the times longer, less so those of the CPU.

| events | format | time | of the CPU | peak memory | size | bytes an event | the peak, asked |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |
{chr(10).join(row.text() for row in rows)}

Events are the trace's timed records. The time includes the whole analysis, of which each export needs the report. The memory is
that of the command or of the Python that it starts, whichever has more. *The peak, asked*: the sum of the blocks that lived
at the peak, by SQLite itself, and by DuckDB {importlib.metadata.version('duckdb')} over the other two; each gave the report's peak to the byte.
"""
    (ROOT / "bench/TABLES.md").write_text(page)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        ask(sys.argv[2], Path(sys.argv[3]))
    elif len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
