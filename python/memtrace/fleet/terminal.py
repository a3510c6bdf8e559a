# SPDX-License-Identifier: Apache-2.0
"""The answers as text for a terminal: a table each, its first rows."""

from __future__ import annotations

import re
import textwrap
from typing import Any, Dict, List, Sequence, Tuple

from memtrace.fleet import figures
from memtrace.fleet.engine import Answered

_WIDEST = 44  # of a column
_BELOW = "headline"  # a sentence, which stands below its row instead of in a column
_LONGEST = 100  # of a line of text
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def tables_columns(one: Answered, rows: Sequence[Dict[str, Any]]) -> List[str]:
    """Those to be shown: not what no row has."""
    wished = [name for name in one.question.columns if name in one.answer.columns] or list(one.answer.columns)
    return [name for name in wished if any(row[name] is not None for row in rows)]


def _cut(text: str) -> str:
    plain = _CONTROL.sub("?", text)
    return plain if len(plain) <= _WIDEST else plain[:_WIDEST - 1] + "…"


def _aligned(columns: Sequence[str], rows: Sequence[Dict[str, Any]]) -> List[str]:
    columns = [name for name in columns if name != _BELOW]
    right = [figures.is_number(next((row[name] for row in rows if row[name] is not None), None)) for name in columns]
    cells = [[figures.heading(name) for name in columns]]
    cells += [[_cut(figures.shown(name, row)) for name in columns] for row in rows]
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns))]

    def line(values: Sequence[str]) -> str:
        padded = [value.rjust(width) if to_right else value.ljust(width)
                  for value, width, to_right in zip(values, widths, right)]
        return ("  " + "  ".join(padded)).rstrip()

    lines = [line(cells[0])]
    for values, row in zip(cells[1:], rows):
        lines.append(line(values))
        if row.get(_BELOW):
            lines += textwrap.wrap(_CONTROL.sub("?", row[_BELOW]), _LONGEST, initial_indent="    ", subsequent_indent="      ")
    return lines


def head(facts: Dict[str, Any]) -> str:
    of = [f"{facts['runs']:,} run{'s' if facts['runs'] != 1 else ''}",
          f"{facts['processes']:,} process{'es' if facts['processes'] != 1 else ''}"]
    days = sorted({facts["first_date"], facts["last_date"]} - {None})
    return f"{facts['store']}: {', '.join(of)}{', ' + ' to '.join(days) if days else ''}"


def as_rows(one: Answered) -> Tuple[Dict[str, Any], ...]:
    """For people: of what was compared, only what has a verdict; the JSON has all."""
    rows = (dict(zip(one.answer.columns, row)) for row in one.answer.rows)
    return tuple(row for row in rows if one.question.view != "regressions" or row["verdict"])


def nothing(one: Answered) -> str:
    """Where there are no rows to show."""
    if not one.answer.rows:
        return one.question.none
    return f"nothing of which the test is sure, in {len(one.answer.rows):,} comparisons"


def text(facts: Dict[str, Any], answers: Sequence[Answered], most: int) -> str:
    lines = [_CONTROL.sub("?", head(facts))]
    for one in answers:
        rows = as_rows(one)
        lines += ["", f"{one.question.text}  ({one.question.view}: {len(rows):,})" if rows else
                  f"{one.question.text}  {nothing(one)}"]
        if rows:
            lines += _aligned(tables_columns(one, rows[:most]), rows[:most])
        if len(rows) > most:
            lines.append(f"  and {len(rows) - most:,} more: --rows {len(rows)}, or --json FILE")
    return "\n".join(lines) + "\n"
