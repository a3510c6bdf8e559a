# SPDX-License-Identifier: Apache-2.0
"""The bytes that Spark's own log counts as shuffled, by the description of the jobs."""

import json
from pathlib import Path


def settings(folder: Path) -> list[str]:
    """By which Spark writes its log there."""
    return ["spark.eventLog.enabled=true", f"spark.eventLog.dir=file://{folder}", "spark.eventLog.compress=false",
            "spark.eventLog.rolling.enabled=false"]


def shuffled(folder: Path) -> dict[str, int]:
    """Bytes that tasks wrote for others; jobs without a description are under the empty one."""
    (log,) = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    described: dict[int, str] = {}
    written: dict[str, int] = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            description = (event.get("Properties") or {}).get("spark.job.description", "")
            for stage in event["Stage IDs"]:
                described.setdefault(stage, description)
        elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            description = described.get(event["Stage ID"], "")
            written[description] = written.get(description, 0) + \
                event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    return written
