# SPDX-License-Identifier: Apache-2.0
"""The cost of asking a fleet: opened, then each question once, in a process of its own.

python tests/trace/fleet/scale.py STORE [KEY=VALUE of Spark…] prints JSON: for each step the seconds that passed, the seconds
of processor and, with Spark, the bytes that were shuffled; and the most memory that the process had. With Spark,
processor and memory are those of all its processes together."""

import contextlib
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "python")]

import spark_events  # noqa: E402
from memtrace.fleet import duck, questions, spark, store, wanted  # noqa: E402

BEFORE = wanted.Period("2026-10-26", "2026-11-08")
AFTER = wanted.Period("2026-11-09", "2026-11-22")


def _times() -> tuple[float, float]:
    """That passed; of processor, of this process and of those that have ended."""
    used = os.times()
    return time.monotonic(), used.user + used.system + used.children_user + used.children_system


def _of_spark() -> list[Path]:
    """Its processes, which live on: Java's, and the workers in Python."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            words = (folder / "cmdline").read_bytes()
        except (OSError, IndexError):
            continue
        if folder.name.isdigit() and int(fields[3]) == os.getsid(0) and (b"java" in words or b"pyspark" in words):
            found.append(folder)
    return found


def _processor_of_spark() -> float:
    total = 0.0
    for folder in _of_spark():
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue
    return total


def _memory_of_spark() -> float:
    """MiB: the most of each, added up."""
    total = 0
    for folder in _of_spark():
        with contextlib.suppress(OSError):
            said = [line.split() for line in (folder / "status").read_text().splitlines() if line.startswith("VmHWM")]
            total += sum(int(words[1]) for words in said)
    return total / 1024


def main() -> None:
    place, settings = sys.argv[1], sys.argv[2:]
    os.setsid()  # so that Spark's processes are known
    steps: dict[str, dict[str, float]] = {}

    def step(name: str, does):
        before, sparks = _times(), _processor_of_spark() if settings else 0.0
        made = does()
        after = _times()
        steps[name] = {"wall_s": after[0] - before[0],
                       "cpu_s": after[1] - before[1] + (_processor_of_spark() - sparks if settings else 0.0)}
        return made

    wishes = wanted.Wanted(before=BEFORE, after=AFTER)
    with tempfile.TemporaryDirectory() as log:
        engine = step("open", lambda: spark.Spark(store.Store(place), wishes, [*settings, *spark_events.settings(Path(log))])
                      if settings else duck.Duck(store.Store(place), wishes))
        for question in questions.QUESTIONS:
            if settings:
                engine.session.sparkContext.setJobDescription(question.view)
            answer = step(question.view,
                          lambda one=question: engine.ask(f"SELECT * FROM {one.view} ORDER BY {one.order}"))
            steps[question.view]["rows"] = len(answer.rows)
        (runs,) = engine.ask("SELECT count(*) FROM runs").rows[0]
        most = _memory_of_spark() if settings else 0.0
        engine.close()
        if settings:
            moved = spark_events.shuffled(Path(log))
            for question in questions.QUESTIONS:
                steps[question.view]["shuffled"] = moved.get(question.view, 0)
    print(json.dumps({"runs": runs, "steps": steps,
                      "peak_mib": most + resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
