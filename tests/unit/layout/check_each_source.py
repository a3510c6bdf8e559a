# SPDX-License-Identifier: Apache-2.0
"""Checks that each source of analyzer/, interpose/ and simulator/ compiles by itself.

The build joins sources into units (cmake/join_sources.py), where a file gets by with headers that another one
includes; the next edit that joins them otherwise then breaks it. This compiles each alone, without making code,
with the flags that its unit is built with. It takes minutes: it is one of the tests of `scripts/test --all`.

Usage: check_each_source.py [--build FOLDER] [--jobs N] [PATH…]
PATH limits it to sources whose path begins so (analyzer/run/). FOLDER is a configured build; without it
build/debug or build/release, the first that is there. Exits 1 if a source does not compile, 2 if nothing was checked.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PARTS = ("analyzer/", "interpose/", "simulator/")
JOINED = re.compile(r'^#include "([^"]+\.(?:cpp|c))"', re.M)
# Only for making code, or for the file that comes of it.
LEFT_OUT = re.compile(r"-(?:O\w*|g\d?|flto\S*|ffat-lto-objects|MD|MMD)$")
LEFT_OUT_WITH_VALUE = {"-o", "-MT", "-MF", "-c"}


def flags_of(command: str) -> list[str]:
    """The compiler and its flags, without input and output."""
    kept, words = [], iter(shlex.split(command))
    for word in words:
        if word in LEFT_OUT_WITH_VALUE:
            next(words, None)
        elif not LEFT_OUT.match(word):
            kept.append(word)
    return kept


def sources_of(unit: Path, folders: list[Path]) -> list[Path]:
    """The sources that a unit joins; the file itself, where it is none."""
    if "joined" not in unit.parts:
        return [unit]
    found = []
    for name in JOINED.findall(unit.read_text()):
        found += [folder / name for folder in [*folders, unit.parent] if (folder / name).is_file()][:1]
    return found


def commands(build: Path) -> dict[str, tuple[list[str], str]]:
    """By source, as the repository names it: how its unit is compiled, and where."""
    by_source: dict[str, tuple[list[str], str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        flags = flags_of(entry["command"])
        folders = [Path(word[2:]) for word in flags if word.startswith("-I")]
        unit = Path(entry["directory"], entry["file"])
        if unit.suffix not in (".cpp", ".c") or not unit.is_file():
            continue
        for source in sources_of(unit, folders):
            path = source.resolve()
            if path.is_relative_to(ROOT) and (name := str(path.relative_to(ROOT))).startswith(PARTS):
                by_source.setdefault(name, (flags, entry["directory"]))
    return by_source


def errors_in(source: str, flags: list[str], folder: str) -> str:
    done = subprocess.run(
        ["nice", *flags, "-fsyntax-only", str(ROOT / source)], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stderr if done.returncode else ""


def default_build() -> Path:
    made = [ROOT / "build" / preset for preset in ("debug", "release")]
    return next((one for one in made if (one / "compile_commands.json").is_file()), made[0])


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, default=default_build())
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("paths", nargs="*", default=list(PARTS))
    given = options.parse_args()
    if not (given.build / "compile_commands.json").is_file():
        print(f"{given.build} has no compile_commands.json; configure it with scripts/build", file=sys.stderr)
        return 2
    wanted = {name: how for name, how in commands(given.build).items() if name.startswith(tuple(given.paths))}
    with ThreadPoolExecutor(given.jobs) as pool:
        found = dict(zip(wanted, pool.map(lambda name: errors_in(name, *wanted[name]), wanted), strict=True))
    broken = {name: errors for name, errors in sorted(found.items()) if errors}
    for name, errors in broken.items():
        print(f"{name} does not compile by itself:\n{errors}")
    print(f"{len(wanted)} sources, {len(broken)} of which do not compile by themselves")
    return 1 if broken else 0 if wanted else 2


if __name__ == "__main__":
    sys.exit(main())
