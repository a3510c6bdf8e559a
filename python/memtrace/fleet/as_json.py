# SPDX-License-Identifier: Apache-2.0
"""The answers as JSON: report.schema.json of this folder. All rows and columns of each view."""

from __future__ import annotations

import argparse
import datetime
import json
import math
from typing import Any, Dict, Sequence

from memtrace.fleet import questions
from memtrace.fleet.engine import Answered, Engine
from memtrace.fleet.wanted import Wanted

SCHEMA = "memtrace-fleet-report/1"


def facts(asked: argparse.Namespace, wished: Wanted, engine: Engine) -> Dict[str, Any]:
    """The question, and the runs that it was asked of."""
    counted = engine.ask("SELECT count(*), coalesce(CAST(sum(processes) AS BIGINT), 0), min(date), max(date) FROM runs").rows[0]
    return {
        "store": asked.dir, "engine": asked.engine,
        "asked": datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0).isoformat(),
        "runs": counted[0], "processes": counted[1], "first_date": counted[2], "last_date": counted[3],
        "filters": {"projects": list(wished.projects), "users": list(wished.users), "gpus": list(wished.gpus),
                    "since": wished.since, "until": wished.until},
        "periods": {"before": wished.before._asdict() if wished.before else None,
                    "after": wished.after._asdict() if wished.after else None},
        "prices": [{"name": name, "price_per_hour": price, "currency": currency} for name, price, currency in wished.prices],
        "left_out": list(engine.notes)}


def _plain(value: Any) -> Any:
    """As JSON has it: no NaN, and whole numbers of a database's own kinds as integers."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return number if math.isfinite(number) else None


def text(said: Dict[str, Any], answers: Sequence[Answered]) -> str:
    made = {"schema": SCHEMA, **said, "questions": [
        {"view": one.question.view, "question": one.question.text,
         "meaning": questions.meaning_of(one.question.view) if one.question.view in questions.ORDER else None,
         "columns": list(one.answer.columns),
         "rows": [dict(zip(one.answer.columns, map(_plain, row))) for row in one.answer.rows]} for one in answers]}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"
