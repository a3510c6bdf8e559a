# SPDX-License-Identifier: Apache-2.0
"""Whether two engines say the same of a fleet: row by row, in order; doubles to the last digits.

Sums of doubles depend on the order in which an engine adds; everything else has to be equal."""

import math
from typing import Any, NamedTuple

ALLOWED = 1e-9  # relative, of doubles


class Compared(NamedTuple):
    view: str
    rows: int
    values: int
    unequal_doubles: int  # within ALLOWED
    largest: float  # of their relative differences
    different: list[str]  # what is not the same


def compare(first: dict[str, Any], second: dict[str, Any]) -> list[Compared]:
    """The differences of two reports' JSON."""
    assert [one["view"] for one in first["questions"]] == [one["view"] for one in second["questions"]]
    return [_compare(*pair) for pair in zip(first["questions"], second["questions"])]


def _compare(first: dict[str, Any], second: dict[str, Any]) -> Compared:
    different: list[str] = []
    if first["columns"] != second["columns"]:
        different.append(f"columns {first['columns']} and {second['columns']}")
    if len(first["rows"]) != len(second["rows"]):
        different.append(f"{len(first['rows'])} and {len(second['rows'])} rows")
    values = unequal = 0
    largest = 0.0
    for number, (left, right) in enumerate(zip(first["rows"], second["rows"])):
        for column, value in left.items():
            other = right.get(column)
            values += 1
            if value == other and type(value) is type(other):
                continue
            if isinstance(value, float) and isinstance(other, float) and math.isclose(value, other, rel_tol=ALLOWED):
                unequal += 1
                largest = max(largest, abs(value - other) / max(abs(value), abs(other)))
            else:
                different.append(f"row {number}, {column}: {value!r} and {other!r}")
    return Compared(first["view"], len(first["rows"]), values, unequal, largest, different)
