# SPDX-License-Identifier: Apache-2.0
"""What it costs to ask a fleet: opened, then each question once, in a process of its own.

python tests/fleet/scale.py STORE [KEY=VALUE of Spark…] prints JSON: for each step the seconds that passed, the seconds
of processor, and in the end the most memory that the process had. With Spark, memory and processor are Java's."""

import json
import os
import resource
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))

from memtrace.fleet import duck, questions, spark, store, wanted  # noqa: E402

BEFORE = wanted.Period("2026-10-26", "2026-11-08")
AFTER = wanted.Period("2026-11-09", "2026-11-22")


def _times() -> tuple[float, float]:
    """That passed; of processor, of this process and of those that have ended."""
    used = os.times()
    return time.monotonic(), used.user + used.system + used.children_user + used.children_system


def _processor_of_java() -> float:
    """Of Spark's own process, which lives on: from /proc."""
    total = 0.0
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            if folder.name.isdigit() and int(fields[3]) == os.getsid(0) and b"java" in (folder / "cmdline").read_bytes():
                total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError):
            continue
    return total


def main() -> None:
    place, settings = sys.argv[1], sys.argv[2:]
    os.setsid()  # so that Spark's processes are known
    steps: dict[str, dict[str, float]] = {}

    def step(name: str, does):
        before, java = _times(), _processor_of_java() if settings else 0.0
        made = does()
        after = _times()
        steps[name] = {"wall_s": after[0] - before[0],
                       "cpu_s": after[1] - before[1] + (_processor_of_java() - java if settings else 0.0)}
        return made

    wishes = wanted.Wanted(before=BEFORE, after=AFTER)
    engine = step("open", lambda: spark.Spark(store.Store(place), wishes, settings) if settings
                  else duck.Duck(store.Store(place), wishes))
    for question in questions.QUESTIONS:
        answer = step(question.view,
                      lambda one=question: engine.ask(f"SELECT * FROM {one.view} ORDER BY {one.order}"))
        steps[question.view]["rows"] = len(answer.rows)
    (runs,) = engine.ask("SELECT count(*) FROM runs").rows[0]
    engine.close()
    print(json.dumps({"runs": runs, "steps": steps,
                      "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
