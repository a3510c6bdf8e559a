# SPDX-License-Identifier: Apache-2.0
"""The cost of a run: the bytes of its summary, by column, and the processor of making it."""

import resource
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import faults
import pyarrow.parquet
import runs

CHOSEN = 5  # traces, from the one with the fewest events to the one with the most


def _sizes(files: list[Path]) -> dict[str, Any]:
    """Means: of a file, of its footer, and of each column of the schema, a list being one."""
    columns: dict[str, float] = {}
    footers = 0
    for path in files:
        said = pyarrow.parquet.read_metadata(path)
        footers += said.serialized_size
        for group in range(said.num_row_groups):
            for number in range(said.num_columns):
                column = said.row_group(group).column(number)
                name = column.path_in_schema.split(".")[0] if ".list." in column.path_in_schema else ""
                columns[name] = columns.get(name, 0) + column.total_compressed_size / len(files)
    return {"runs": len(files), "file": sum(path.stat().st_size for path in files) / len(files),
            "footer": footers / len(files), "columns": columns}


def _processor(*command: object) -> float:
    """Seconds, of a command and of what it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, env=faults.environment())
    assert done.returncode == 0, done.stderr[-3000:]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(real: Path) -> dict[str, Any]:
    """The cost of the runs of real_runs.py."""
    files = sorted((real / "fleet").rglob("*.parquet"))
    events = []
    for path in files:
        (row,) = pyarrow.parquet.ParquetFile(path).read(["project_name", "events"]).to_pylist()
        (trace,) = (real / "traces" / row["project_name"]).glob("*.mtrace")
        events.append((row["events"], trace))
    events.sort()
    chosen = [events[at * (len(events) - 1) // (CHOSEN - 1)] for at in range(CHOSEN)]
    with tempfile.TemporaryDirectory() as folder:
        reports = [{"events": count, "trace_bytes": trace.stat().st_size,
                    "cpu_s": _processor(runs.memtrace(), "report", trace, "--json", Path(folder) / "report.json")}
                   for count, trace in chosen]
        sources = faults.copies([trace for _, trace in chosen], Path(folder) / "traces")
        together = _processor(*faults.command("add", Path(folder) / "all", *sources, "--jobs", 1))
        alone = [_processor(*faults.command("add", Path(folder) / f"alone{number}", source))
                 for number, source in enumerate(sources)]
    return {"sizes": _sizes(files), "reports": reports, "add_together_s": together, "add_alone_s": alone}
