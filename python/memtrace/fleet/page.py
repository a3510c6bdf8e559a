# SPDX-License-Identifier: Apache-2.0
"""The answers as one HTML file that loads nothing, with the look of a run's page, which
imports common.css too (page/src/style.css)."""

from __future__ import annotations

import base64
import hashlib
import html
from pathlib import Path
from typing import Any, Dict, List, Sequence

from memtrace.fleet import figures, questions, terminal
from memtrace.fleet.engine import Answered

_HERE = Path(__file__).resolve().parent
_MOST_ROWS = 500  # of a question; the JSON has all


def _escaped(value: Any) -> str:
    return html.escape(str(value), quote=True)


def _row(columns: Sequence[str], row: Dict[str, Any]) -> str:
    cells = []
    for name in columns:
        shown = figures.shown(name, row)
        about = f' title="{_escaped(row[name])}"' if shown != str(row[name]) and row[name] is not None else ""
        kind = ' class="figure"' if figures.is_number(row[name]) else ""
        cells.append(f"<td{kind}{about}>{_escaped(shown)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _section(one: Answered) -> str:
    rows = terminal.as_rows(one)
    view = one.question.view
    title = f'<h2 id="{_escaped(view)}">{_escaped(one.question.text)}</h2>'
    meaning = questions.meaning_of(view) if view in questions.ORDER else ""
    lead = f'<p class="lead">{_escaped(meaning)}</p>' if meaning else ""
    if not rows:
        return f'<section>{title}<p>{_escaped(terminal.nothing(one))}</p></section>'
    columns = terminal.tables_columns(one, rows)
    heads = "".join(f"<th>{_escaped(figures.heading(name))}</th>" for name in columns)
    body = "".join(_row(columns, row) for row in rows[:_MOST_ROWS])
    more = f"<p class=\"note\">and {len(rows) - _MOST_ROWS:,} more: --json FILE has all</p>" if len(rows) > _MOST_ROWS else ""
    return (f'<section>{title}{lead}<div class="scroll" tabindex="0" role="region" aria-label="{_escaped(one.question.text)}">'
            f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>{more}</section>")


def _tiles(answers: Sequence[Answered]) -> str:
    tiles = [f'<div class="tile"><dt>{_escaped(one.question.text)}</dt><dd><a href="#{_escaped(one.question.view)}">'
             f"{len(terminal.as_rows(one)):,}</a></dd></div>" for one in answers]
    return f'<dl class="tiles">{"".join(tiles)}</dl>'


def _asked(facts: Dict[str, Any]) -> str:
    filters = facts["filters"]
    said: List[str] = [f"{name[:-1]} {', '.join(filters[name])}" for name in ("projects", "users", "gpus") if filters[name]]
    said += [f"{name} {filters[name]}" for name in ("since", "until") if filters[name]]
    said.append(f"asked {facts['asked']} of {facts['engine']}")
    return "; ".join(said)


def text(facts: Dict[str, Any], answers: Sequence[Answered]) -> str:
    style = "".join((_HERE / name).read_text(encoding="utf-8") for name in ("common.css", "page.css"))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    left_out = "".join(f"<p class=\"note\">{_escaped(note)}</p>" for note in facts["left_out"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{_escaped(terminal.head(facts))}</title>
<style>{style}</style>
</head>
<body>
<header><h1>memtrace fleet <span class="command">{_escaped(terminal.head(facts))}</span></h1></header>
<main>
<section>{_tiles(answers)}<p class="note">{_escaped(_asked(facts))}</p>{left_out}</section>
{"".join(_section(one) for one in answers)}
</main>
</body>
</html>
"""
