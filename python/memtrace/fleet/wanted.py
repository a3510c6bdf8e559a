# SPDX-License-Identifier: Apache-2.0
"""The subject of a report: filters, periods, prices, GPUs; the same for every engine."""

from __future__ import annotations

import csv
import datetime
import functools
import json
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from memtrace import _tool
from memtrace.fleet.dialect import literal
from memtrace.fleet.errors import FleetError


class Period(NamedTuple):
    """None: no limit."""

    first_date: Optional[str] = None
    last_date: Optional[str] = None
    label: Optional[str] = None
    value: Optional[str] = None


class Wanted(NamedTuple):
    projects: Tuple[str, ...] = ()  # empty: all
    users: Tuple[str, ...] = ()
    gpus: Tuple[str, ...] = ()  # parts of names of models, in any case
    since: Optional[str] = None  # UTC days, both inclusive
    until: Optional[str] = None
    before: Optional[Period] = None
    after: Optional[Period] = None
    prices: Tuple[Tuple[str, float, str], ...] = ()  # name as CUDA says, per hour, currency

    def condition(self) -> str:
        """On the columns of `summaries`, but for GPUs; the same in every dialect. Empty: all."""
        parts = []
        for column, chosen in (("project_name", self.projects), ("user_name", self.users)):
            if chosen:
                parts.append(f"{column} IN ({', '.join(map(literal, chosen))})")
        if self.since:
            parts.append(f"run_date >= {literal(self.since)}")
        if self.until:
            parts.append(f"run_date <= {literal(self.until)}")
        return " AND ".join(parts)

    def gpu_condition(self) -> str:
        """On the columns of the table devices: a run is wanted if one of its devices is. Empty: all."""
        return " OR ".join(f"lower(gpu) LIKE {literal('%' + name.lower() + '%')}" for name in self.gpus)

    def period_rows(self) -> List[Tuple[Optional[str], ...]]:
        return [(name, *period) for name, period in (("before", self.before), ("after", self.after)) if period]


def day(text: str, option: str) -> str:
    """A date as 2026-11-24, or days ago as 7d."""
    try:
        if text.endswith("d") and text[:-1].isdigit():
            today = datetime.datetime.now(datetime.timezone.utc).date()
            return (today - datetime.timedelta(days=int(text[:-1]))).isoformat()
        return datetime.date.fromisoformat(text).isoformat()
    except (ValueError, OverflowError):
        raise FleetError(f"{option} {text}: write a day as 2026-11-24, or 7d for seven days ago") from None


def period(text: str, option: str) -> Period:
    """FIRST..LAST, one day, or LABEL=VALUE."""
    label, equals, value = text.partition("=")
    if equals:
        return Period(None, None, label, value)
    first, dots, last = text.partition("..")
    if not dots:
        return Period(day(text, option), day(text, option))
    return Period(day(first, option) if first else None, day(last, option) if last else None)


@functools.lru_cache(maxsize=None)
def known_gpus() -> Tuple[Tuple[str, str, int], ...]:
    """Key, name and capacity of each that memtrace knows."""
    listed = json.loads(_tool.run(["fleet", "gpus"]).stdout)
    return tuple((one["gpu"], one["name"], one["capacity_bytes"]) for one in listed)


def _price_rows(path: Path) -> List[Dict[str, Any]]:
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".json":
        content = json.loads(text)
        if isinstance(content, dict):  # {"a100-80": 3.5}
            return [{"gpu": name, "price_per_hour": price} for name, price in content.items()]
        return list(content)
    return list(csv.DictReader(text.splitlines()))


def prices(path: str) -> Tuple[Tuple[str, float, str], ...]:
    """Prices in a file: CSV with columns gpu, price_per_hour and, if it is not USD, currency; JSON with a list of such
    objects, or one object {gpu: price}. gpu: as --gpu takes it, or the name that CUDA says."""
    remedy = "write a CSV file with the columns gpu and price_per_hour, or JSON as {\"a100-80\": 3.5}"
    names = {key: name for key, name, _ in known_gpus()}
    made: Dict[str, Tuple[str, float, str]] = {}
    try:
        for row in _price_rows(Path(path)):
            name = names.get(row["gpu"], row["gpu"])
            price = float(row["price_per_hour"])
            if not 0 <= price < float("inf"):
                raise ValueError(f"a price of {row['price_per_hour']}")
            made[name] = (name, price, row.get("currency") or "USD")
    except OSError as error:
        raise FleetError(f"--prices {path}: cannot be read: {error.strerror}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FleetError(f"--prices {path}: cannot be understood ({error}); {remedy}") from None
    if not made:
        raise FleetError(f"--prices {path}: holds no prices; {remedy}")
    return tuple(made.values())
