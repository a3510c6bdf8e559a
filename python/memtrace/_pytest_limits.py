# SPDX-License-Identifier: Apache-2.0
"""The limits that tests have, from markers and the ini option, and what breaks them."""

from __future__ import annotations

import re
from fractions import Fraction

MEMORY, LEAKS = "limit_gpu_memory", "limit_gpu_leaks"
INI = f"memtrace_{MEMORY}"
_UNITS = {"b": 1, "byte": 1, "bytes": 1}
for _power, _letter in enumerate("kmgt", 1):
    _UNITS[f"{_letter}b"] = 1000**_power
    _UNITS[f"{_letter}ib"] = 1024**_power
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE | re.ASCII)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%", re.ASCII)


class WrongLimit(Exception):
    """One sentence that shows how to write it."""


class Limit:
    """At most `text` bytes, and `tolerance` more."""

    def __init__(self, name: str, text: str, tolerance: str | None = None):
        self.name = name
        self.bytes = bytes_of(text)
        self.tolerance = tolerance
        self.most = self.bytes
        if tolerance is not None:
            self.most = int(self.bytes * (1 + _share_of(tolerance)))

    def described(self) -> str:
        more = f" and its tolerance of {self.tolerance.strip()}" if self.tolerance else ""
        return f"the limit of {size(self.bytes)}{more}"


def bytes_of(text) -> int:
    """The bytes that "1.5 GiB" or "200 MB" stand for; raises ValueError with what is wrong."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not a text")
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a size")
    number, unit = found.groups()
    if not unit:
        raise ValueError(f"{text!r} has no unit")
    if unit.lower() not in _UNITS:
        raise ValueError(f"{text!r} has the unit {unit!r}, and known are B, KiB, MiB, GiB, TiB, kB, MB, GB and TB")
    return int(Fraction(number) * _UNITS[unit.lower()])


def _share_of(text) -> Fraction:
    found = _PERCENT.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"the tolerance {text!r} is not a percentage")
    return Fraction(found.group(1)) / 100


def of_marker(mark) -> Limit:
    """The limits that a marker sets; raises WrongLimit."""
    known = {"limit", "tolerance"} if mark.name == MEMORY else {"limit"}
    example = f'{mark.name}("2 GiB", tolerance="2%")' if mark.name == MEMORY else f'{mark.name}("1 MiB")'
    values = dict(mark.kwargs)
    try:
        if len(mark.args) + ("limit" in values) != 1:
            raise ValueError("it needs exactly one size")
        if not set(values) <= known:
            raise ValueError(f"it knows no {', '.join(sorted(set(values) - known))}")
        return Limit(mark.name, values.get("limit", *mark.args), values.get("tolerance"))
    except ValueError as wrong:
        raise WrongLimit(f"The marker {mark.name} is wrong, as {wrong}: write @pytest.mark.{example}.") from None


def of_ini(text: str) -> Limit | None:
    """The default of all tests; raises WrongLimit."""
    if not text.strip():
        return None
    try:
        return Limit(INI, text)
    except ValueError as wrong:
        raise WrongLimit(f"The option {INI} is wrong, as {wrong}: write {INI} = 2 GiB.") from None


def size(count: int) -> str:
    """In binary units, and where those round, in bytes too."""
    for unit, name in ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB")):
        if count >= unit:
            rounded = f"{count / unit:.2f}".rstrip("0").rstrip(".")
            exact = Fraction(rounded) * unit == count
            return f"{rounded} {name}" if exact else f"{rounded} {name} ({count:,} bytes)"
    return f"{count:,} bytes"


def broken_peak(limit: Limit, peaks: list[int]) -> str | None:
    """The sentence on the device that breaks it most, or None."""
    peak = max(peaks, default=0)
    if peak <= limit.most:
        return None
    return (f"peak of {size(peak)} of GPU memory on device {peaks.index(peak)}, allocated by the test itself: more "
            f"than {limit.described()} for each device ({limit.name})")


def broken_leaks(limit: Limit, left: list[int]) -> str | None:
    most = max(left, default=0)
    if most <= limit.most:
        return None
    return (f"left over: {size(most)} of GPU memory on device {left.index(most)}, allocated by the test and still "
            f"there when it ended: more than {limit.described()} for each device ({limit.name})")
