# SPDX-License-Identifier: Apache-2.0
"""The report of the running process as files, for trackers that keep files."""

from __future__ import annotations

import json
from pathlib import Path

from memtrace import _tool


def write(report, folder) -> list[Path]:
    """report.txt, report.json, report.html."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    content = report.as_dict()
    traces = [process["trace"] for process in content["processes"]]
    page = folder / "report.html"
    text = folder / "report.txt"
    text.write_text(_tool.run(["report", *traces, "--html", str(page), "--force"]).stdout, encoding="utf-8")
    numbers = folder / "report.json"
    numbers.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return [text, numbers] + ([page] if page.exists() else [])
