# SPDX-License-Identifier: Apache-2.0
"""Advice beside what the changed program really needs."""

from dataclasses import dataclass, field

from known_remedy import DRIVER, MIB, PINNED, RESERVED, Truth

TOLERANCE = {"replayed": 0.05, "measured": 0.05, "estimated": 0.20}


@dataclass(frozen=True)
class Compared:
    """One piece of advice whose change was really made."""

    id: str
    amount: str
    proof: str
    change: str
    of: str  # RESERVED, PINNED or DRIVER
    said: int  # at least
    said_most: int
    real: int
    says_mended: bool
    really_mended: bool | None  # None: the program did not run out of memory

    @property
    def error(self) -> float:
        """Relative, from the nearer end of the range; 0 inside of it."""
        nearest = min(max(self.real, self.said), max(self.said, self.said_most))
        return (nearest - self.real) / max(abs(self.real), 1)

    @property
    def right(self) -> bool:
        if self.really_mended is not None:
            return self.says_mended == self.really_mended
        if self.of == DRIVER:  # advice tells the time of calls, not their number
            return self.real > 0
        return abs(self.error) <= TOLERANCE[self.proof]


@dataclass
class Judged:
    truth: Truth
    place: int | None = None  # of the best remedy, by groups; None: not advised
    pieces: int = 0
    first: list[str] = field(default_factory=list)  # the first ones said
    compared: list[Compared] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)  # what no switch exists for
    nothing: list[str] = field(default_factory=list)  # what is said to save and does not
    best: Compared | None = None

    @property
    def place_right(self) -> bool | None:
        if not self.truth.best:
            return None
        if self.truth.place is None:
            return self.place is not None
        return self.place is not None and self.place <= self.truth.place

    @property
    def saving_right(self) -> bool | None:
        if not self.truth.best:
            return None
        return self.best is not None and self.best.right

    @property
    def good(self) -> bool:
        return self.place_right is not False and self.saving_right is not False and not self.nothing


def size(count: int) -> str:
    return f"{count / MIB:,.0f} MiB"


def short(entry: dict) -> str:
    amount = f" {entry['amount']}" if entry.get("amount") else ""
    mends = " mends" if entry.get("mends_out_of_memory") else ""
    return f"{entry['id']}{amount}: {size(entry['saves_bytes'])}{mends} ({entry['proof']})"


def place_of(entries: list[dict], ids: tuple[str, ...]) -> int | None:
    """Among what is free, or among the rest; two sizes of one batch are one piece of advice."""
    groups = []
    free = next((entry["free"] for entry in entries if entry["id"] in ids), None)
    for entry in [one for one in entries if one["free"] == free]:
        group = entry.get("group") or entry["id"]
        if group not in groups:
            groups.append(group)
        if entry["id"] in ids:
            return groups.index(group) + 1
    return None


def compare(entry: dict, truth: Truth, change: str, before: dict, after: dict) -> Compared:
    of = truth.saves if entry["id"] in truth.best else RESERVED
    real = before[of] - after[of]
    least = {RESERVED: entry["saves_bytes"], PINNED: entry.get("saves_host_bytes") or 0, DRIVER: 0}[of]
    most = max(least, entry.get("saves_bytes_most") or 0) if of == RESERVED else least
    # What is promised of a piece is the request that failed; of the best one, that the program ends.
    ends = after["out_of_memory"] is None
    past = ends or entry["id"] not in truth.best and after["out_of_memory"] != before["out_of_memory"]
    mended = past if before["out_of_memory"] else None
    return Compared(entry["id"], entry.get("amount") or "", entry["proof"], change, of, least, most, real,
                    bool(entry.get("mends_out_of_memory")), mended)


def saves_nothing(one: Compared, before: dict) -> bool:
    """Said to save, or to mend, what it does not."""
    if one.really_mended is not None:
        return one.says_mended and not one.really_mended
    if one.of == RESERVED and one.said > 0:
        # Half of the threshold: a saving at the threshold must not turn on a segment more or less.
        return one.real < max(2 * MIB, before[RESERVED] // 100) // 2
    return one.real <= 0 and one.of != RESERVED


def wanted_changes(report: dict, truth: Truth) -> list[str]:
    return [change for entry in report["advice"] if (change := truth.change_of(entry)) is not None]


def judge(report: dict, truth: Truth, changed) -> Judged:
    """`changed.of(truth, change)`: what PyTorch says of the changed program."""
    entries = report["advice"]
    found = Judged(truth, place_of(entries, truth.best), len(entries), [short(one) for one in entries[:4]])
    before = changed.of(truth, "")
    for entry in entries:
        change = truth.change_of(entry)
        after = changed.of(truth, change) if change is not None else None
        if after is None or "failure" in after:
            found.unknown.append(short(entry))
            continue
        one = compare(entry, truth, change, before, after)
        found.compared.append(one)
        if saves_nothing(one, before):
            found.nothing.append(short(entry))
        if found.best is None and entry["id"] in truth.best:
            found.best = one
    return found
