# SPDX-License-Identifier: Apache-2.0
"""Makes a fleet whose truth is known, asks it with DuckDB and Spark, breaks what can break, and measures; writes
RESULTS.md, and docs/fleet_scale.md from what was measured.

python tests/trace/fleet/make_results.py [--work FOLDER] [--sizes 100,1000,10000] [--without-spark]
FOLDER keeps the real runs, the made-up fleets and what was measured, so that a part can be made again: delete its file
in FOLDER/parts."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "generator"), str(HERE.parents[1] / "support"), str(HERE.parents[2] / "python")]

import engine_agreement as agreement  # noqa: E402
import faults  # noqa: E402
import made_fleet  # noqa: E402
import real_runs  # noqa: E402
import results_text  # noqa: E402
import runs  # noqa: E402
import scale_text  # noqa: E402
import scoring  # noqa: E402
import settings  # noqa: E402
import single_runs  # noqa: E402
import spark_faults  # noqa: E402
import spark_runs  # noqa: E402

PERIODS = ("--before", "2026-10-26..2026-11-08", "--after", "2026-11-09..2026-11-22")
SEEDS = {31: 2000, 32: 2000, 33: 2000}  # not those that a rule was made by
FIRST = min(SEEDS)


class Work:
    """Where everything lies; what a part found is kept."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.real = folder / "real"
        (folder / "parts").mkdir(parents=True, exist_ok=True)

    def part(self, name: str, make: Callable[[], Any]) -> Any:
        kept = self.folder / "parts" / f"{name}.json"
        if not kept.exists():
            print(f"{time.strftime('%H:%M:%S')} {name}", file=sys.stderr, flush=True)
            made = make()
            kept.write_text(json.dumps(made, ensure_ascii=False))
        return json.loads(kept.read_text())

    def fleet(self, seed: int, count: int, together: int = 1) -> Path:
        folder = self.folder / f"fleet_{seed}_{count}_{together}"
        if not (folder / "done").exists():
            made_fleet.make(folder, seed, count, settings.ALL, together, self.real)
            (folder / "done").touch()
        return folder / "fleet"


def planted(work: Work, seed: int, count: int) -> dict[str, Any]:
    fleet = work.fleet(seed, count, together=200)
    report = spark_runs.report(fleet, *PERIODS)
    scores = scoring.scores(report, json.loads((fleet.parent / "truth.json").read_text()))
    return {"lines": [score.line() for score in scores], "remedies": scoring.remedies(report),
            "missed": {score.question: score.missed for score in scores},
            "false_alarms": {score.question: score.false_alarms for score in scores}}


def agreed(work: Work, seed: int, count: int, engine: tuple[str, ...]) -> list[dict[str, Any]]:
    fleet = work.fleet(seed, count, together=200)
    return [one._asdict() for one in agreement.compare(
        spark_runs.report(fleet, *PERIODS), spark_runs.report(fleet, *PERIODS, *engine))]


def measured(fleet: Path, options: list[str]) -> dict[str, Any]:
    environment = {**spark_runs.environment(), "MEMTRACE_COMMAND": str(runs.memtrace())}
    done = subprocess.run([sys.executable, str(HERE / "scale.py"), str(fleet), *options], capture_output=True, text=True,
                          env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    files = list(fleet.rglob("*.parquet"))
    return {**json.loads(done.stdout.splitlines()[-1]), "files": len(files), "load": os.getloadavg()[0],
            "bytes": sum(one.stat().st_size for one in files)}


def compacted(work: Work, count: int) -> Path:
    """Into files of a day, as memtrace fleet compact leaves them."""
    return work.fleet(1, count, together=1000)


def told(faults_of: dict[str, Callable[[Path, list[Path]], str]], traces: list[Path]) -> list[list[str]]:
    found = []
    for name, fault in faults_of.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                said = fault(Path(folder), traces).replace(folder, "…")
                found.append([name, "passed", said])
            except AssertionError as failed:
                found.append([name, "FAILED", str(failed).splitlines()[0] if str(failed) else "an assertion"])
    return found


def broken(work: Work) -> list[list[str]]:
    traces = [next((work.real / "traces" / name).glob("*.mtrace")) for name in ("steady_mlp_08", "leak_mlp_28")]
    return told(faults.ALL, traces)


def broken_with_spark(work: Work) -> list[list[str]]:
    """All real runs are added, so that there is a middle."""
    return told(spark_faults.ALL, [trace for folder in sorted((work.real / "traces").iterdir())
                                   for trace in sorted(folder.glob("*.mtrace"))])


def hardware() -> str:
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / (1 << 20)
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GiB, Python {platform.python_version()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=runs.ROOT / "build" / "fleet")
    parser.add_argument("--sizes", default="100,1000,10000")
    parser.add_argument("--without-spark", action="store_true")
    asked = parser.parse_args()
    work = Work(asked.work.absolute())
    os.environ["MEMTRACE_COMMAND"] = str(runs.memtrace())
    real_runs.make(settings.ALL, work.real)
    with_spark = not asked.without_spark and not spark_runs.missing()
    parts: dict[str, Any] = {"hardware": work.part("hardware", hardware), "real": len(settings.ALL)}
    parts["planted"] = [work.part(f"planted_{seed}", lambda: {**planted(work, seed, count), "seed": seed, "runs": count})
                        for seed, count in SEEDS.items()]
    parts["faults"] = work.part("faults", lambda: broken(work))
    made = list(map(int, asked.sizes.split(",")))
    parts["duckdb"] = []
    for count in made:
        parts["duckdb"].append(work.part(f"duckdb_{count}_single", lambda: measured(work.fleet(1, count), [])))
        parts["duckdb"].append(work.part(f"duckdb_{count}_many", lambda: measured(compacted(work, count), [])))
    parts["spark"], parts["agreement"] = [], {}
    if with_spark:
        for name, engine in (("local[2]", spark_runs.LOCAL), ("two executors", spark_runs.EXECUTORS)):
            parts["agreement"][name] = work.part(
                f"agreement_{name.replace(' ', '_')}", lambda: agreed(work, FIRST, SEEDS[FIRST], engine))
        for count in made:
            settings_of = [word for word in spark_runs.EXECUTORS[2:] if word != "--spark"]
            parts["spark"].append(work.part(f"spark_{count}", lambda: measured(compacted(work, count), settings_of)))
        parts["faults"] += work.part("faults_spark", lambda: broken_with_spark(work))
    parts["single"] = work.part("single", lambda: single_runs.measured(work.real))
    (HERE / "RESULTS.md").write_text(results_text.text(parts) + "\n" + (HERE / "differences.md").read_text())
    if parts["spark"]:
        (runs.ROOT / "docs" / "fleet_scale.md").write_text(scale_text.text(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
