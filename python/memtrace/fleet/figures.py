# SPDX-License-Identifier: Apache-2.0
"""Values of a view as people read them: sizes in binary units, shares in per cent; by the name of the column."""

from __future__ import annotations

import os
from typing import Any, Dict

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
# Headings of columns whose name alone would not say it.
_HEADINGS = {"user_name": "user", "median_needed_share": "half of runs need at most", "needed_share": "needs",
             "fits_name": "fits", "fits_share": "fills", "share_higher": "chance that more", "steps_to_oom": "steps to OOM",
             "p_adjusted": "p", "median_before": "before"}


def size(count: float) -> str:
    value, unit = float(count), 0
    while abs(value) >= 1024 and unit + 1 < len(_UNITS):
        value, unit = value / 1024, unit + 1
    if unit == 0:
        return f"{value:,.0f} bytes"
    return f"{value:,.2f}".rstrip("0").rstrip(".") + f" {_UNITS[unit]}"


def heading(column: str) -> str:
    if column in _HEADINGS:
        return _HEADINGS[column]
    return column[:-len("_bytes")].replace("_", " ") if column.endswith("_bytes") else column.replace("_", " ")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _by_metric(metric: str, value: float) -> str:
    if metric.endswith("_bytes"):
        return size(value)
    if metric.endswith("_ns"):
        return f"{value / 1e6:,.2f} ms"
    return f"{value:.1%}"


def shown(column: str, row: Dict[str, Any]) -> str:
    """One value of a row. Nothing: it is not known."""
    value = row[column]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not is_number(value):
        return os.path.basename(value) if column == "file" else str(value)
    if column in ("value_before", "value_after"):
        return _by_metric(row["metric"], value)
    if column.endswith("_bytes") or column == "bytes":
        return size(value)
    if column == "bytes_per_step":
        return f"{size(value)}/step"
    if column == "change":
        return f"{value:+.1%}"
    if column.endswith("share") or column == "share_higher":
        return f"{value:.0%}"
    if column.startswith("p_") or column == "p":
        return f"{value:.2g}"
    if column.endswith("cost") or column.startswith("price"):
        return f"{value:,.2f}"
    if column.endswith("hours"):
        return f"{value:,.1f}" if value >= 0.1 or value == 0 else f"{value:.2g}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"
