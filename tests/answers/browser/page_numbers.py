# SPDX-License-Identifier: Apache-2.0
"""Compares what a page shows with a report's JSON, by rules of its own: a size of the page is right if it is the number of
bytes of the JSON, rounded to the digits that it has."""

import re

UNITS = {"bytes": 1, "byte": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SIZE = re.compile(r"([−-]?\d[\d,]*(?:\.\d+)?)\s*(bytes|byte|B|KiB|MiB|GiB|TiB)\b")


def numbers_in(text: str) -> list[float]:
    return [float(one.replace(",", "").replace("−", "-")) for one in re.findall(r"[−-]?\d[\d,]*(?:\.\d+)?", text)]


def tells_size(text: str, size: int) -> bool:
    """Whether a size in the text is this one, rounded to the digits shown."""
    for digits, unit in SIZE.findall(text):
        plain = digits.replace(",", "").replace("−", "-")
        decimals = len(plain.partition(".")[2])
        # Half of the last digit, and a little for binary fractions.
        if abs(abs(float(plain)) - abs(size) / UNITS[unit]) <= 0.5 * 10 ** -decimals * 1.000001:
            return True
    return False
