# SPDX-License-Identifier: Apache-2.0
"""The report of the running process as files, for trackers that keep files."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from memtrace import _tool


@functools.lru_cache(maxsize=None)
def _makes_html() -> bool:
    return "--html" in _tool.run(["report", "--help"]).stdout


def write(report, folder) -> list[Path]:
    """report.txt, report.json and, where the command can write one, report.html."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    content = report.as_dict()
    traces = [process["trace"] for process in content["processes"]]
    page = folder / "report.html"
    line = ["report", *traces]
    if _makes_html():
        page.unlink(missing_ok=True)  # the command overwrites no file
        line += ["--html", str(page)]
    text = folder / "report.txt"
    text.write_text(_tool.run(line).stdout, encoding="utf-8")
    numbers = folder / "report.json"
    numbers.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return [text, numbers] + ([page] if page.exists() else [])
