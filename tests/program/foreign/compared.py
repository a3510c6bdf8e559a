# SPDX-License-Identifier: Apache-2.0
"""A module's tests bare and traced; those that end otherwise run again, before that is a difference."""

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from isolated import Ended, Module, run_tests, tests_in

AGAIN = 3


@dataclass
class Compared:
    module: str
    bare: Ended
    traced: Ended
    # The tests that ended otherwise at first: how they ended in all runs, bare and traced.
    again: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)

    @property
    def different(self) -> dict[str, tuple[list[str], list[str]]]:
        """Those that ended traced as they never did bare."""
        return {one: ways for one, ways in self.again.items() if set(ways[1]) - set(ways[0])}

    @property
    def unsteady(self) -> list[str]:
        return sorted(set(self.again) - set(self.different))

    def counted(self) -> Counter:
        return Counter(kind_of(how) for how in self.bare.tests.values())


def kind_of(how: str) -> str:
    return how.split(":")[0].split(" (")[0]


def both_ways(module: Module, wanted: list[str], folder: Path) -> tuple[Ended, Ended]:
    """Side by side, so that both meet the same load."""
    with ThreadPoolExecutor(2) as pool:
        ways = [pool.submit(run_tests, module, wanted, folder / name, name == "traced")
                for name in ("bare", "traced")]
        return ways[0].result(), ways[1].result()


def compare(module: Module, folder: Path, only: str = "") -> Compared:
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [one for one in tests_in(module, folder) if only in one]
    bare, traced = both_ways(module, wanted, folder / "first")
    found = Compared(module.name, bare, traced)
    names = sorted({*bare.tests, *traced.tests})
    otherwise = [one for one in names if bare.tests.get(one) != traced.tests.get(one)]
    found.again = {one: ([bare.tests.get(one, "not there")], [traced.tests.get(one, "not there")])
                   for one in otherwise}
    loadable = [one for one in otherwise if one in wanted]
    for number in range(AGAIN if loadable else 0):
        ends = both_ways(module, loadable, folder / f"again{number}")
        for one in loadable:
            for way in (0, 1):
                found.again[one][way].append(ends[way].tests.get(one, "not there"))
    if not found.again and not bare.wrong and not traced.wrong:
        shutil.rmtree(folder)
    return found
