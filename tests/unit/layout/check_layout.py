# SPDX-License-Identifier: Apache-2.0
"""Checks the house rules on the tracked files; prints each breach and exits 1 if there is one."""

import re
import statistics
import subprocess
import sys
from pathlib import Path

import slivers
import words

SOURCE = {".cpp", ".h", ".def", ".S", ".py", ".sh", ".cmake"}
CXX = {".cpp", ".h"}
MAX_LINES = 500
MEDIAN_LINES = 150
CLANG_FORMAT_MAJOR = 14  # Debian 12

# folder -> what an #include in it must not start with: data goes one way.
FORBIDDEN_INCLUDES = {
    "include/": r"(interpose/|analyzer/|simulator/|cuda|Python\.h|torch/|c10/)",
    "analyzer/": r"(interpose/|cuda|cu[a-z]+\.h|Python\.h|torch/|c10/)",
    "interpose/": r"(analyzer/|simulator/|Python\.h|torch/|c10/)",
    "simulator/": r"(analyzer/|interpose/|Python\.h|torch/|c10/)",
}
# The wings of each part, and the rooms of each wing, from the ground up: a file includes only from its own room
# and from those before it, so that no include runs back up and there is no circle. docs/README.md says what each
# is for. A wing without rooms is one room; so is each folder of the simulator.
WINGS: dict[str, dict[str, list[str]]] = {
    "analyzer": {
        "base": ["text", "gpus", "statistics", "symbols"],
        "trace": ["reader", "code"],
        "model": ["replay", "estimate", "allocator", "snapshot", "attribution", "device", "history"],
        "judge": ["program", "verdicts", "host", "blocks", "fragmentation", "advice"],
        "run": ["model", "ranks", "check"],
        "show": ["terminal", "json", "diff", "html", "what_if", "audit", "live"],
        "export": ["tables", "formats", "scrub"],
        "plan": ["fit", "serve"],
        "cli": ["io", "launch", "help", "commands"],
    },
    "interpose": {
        "ground": ["base", "recorder", "session", "loader", "driver"],
        "sight": ["python", "autograd", "heap_scan", "agent"],
        "door": ["api", "sampler", "cupti", "entry"],
    },
    "simulator": {name: [] for name in (
        "log", "core", "stubs", "driver", "runtime", "libraries", "program", "watchdog", "untouched")},
}
# The largest share of a part's lines of C++ that one room may have; a larger one is two in one.
LARGEST_SHARE = {"analyzer": 0.10}
MARKERS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
MACHINE_PATHS = re.compile(r"(/root/|/home/\w+/|/work/)")


def is_source(path: Path) -> bool:
    return path.suffix in SOURCE or path.name == "CMakeLists.txt" or path.parts[0] == "scripts"


def breaches_of(path: str, text: str) -> list[str]:
    """The rules that one file breaks."""
    found = []
    lines = text.splitlines()
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
        found.append("no SPDX line at its top")
    is_generated = any("Made by scripts/" in line for line in lines[:2])
    if len(lines) > MAX_LINES and not is_generated:
        found.append(f"{len(lines)} lines; at most {MAX_LINES}")
    for folder, pattern in FORBIDDEN_INCLUDES.items():
        if not path.startswith(folder):
            continue
        for line in lines:
            include = re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)
            if include and re.match(pattern, include.group(1)):
                found.append(f"includes {include.group(1)}, against the direction of data")
    if "tests/unit/layout/" not in path:
        for number, line in enumerate(lines, 1):
            if MARKERS.search(line):
                found.append(f"line {number}: a left-over marker")
            if MACHINE_PATHS.search(line):
                found.append(f"line {number}: a path of one machine")
    return found


def floors_of(wings: dict[str, list[str]]) -> list[str]:
    """The rooms of a part from the ground up, as WING/ROOM, or WING where it has none."""
    return [f"{wing}/{room}" if room else wing for wing, rooms in wings.items() for room in rooms or [""]]


def floor_of(path: str, floors: list[str]) -> int | None:
    """The floor of a path below its part."""
    return next((number for number, room in enumerate(floors) if path.startswith(f"{room}/")), None)


def room_of(path: str) -> str:
    """PART/WING/ROOM of a file; its folder where that has no floor."""
    part, _, rest = path.partition("/")
    floors = floors_of(WINGS.get(part, {}))
    own = floor_of(rest, floors)
    return path.rpartition("/")[0] if own is None else f"{part}/{floors[own]}"


def breaches_of_floors(path: str, text: str, wings: dict[str, dict[str, list[str]]] = WINGS) -> list[str]:
    """Includes of one file that run back up, and its folder where that has no floor.

    A file that lies in the part itself, in none of its folders, is everybody's ground.
    """
    part, _, rest = path.partition("/")
    if part not in wings or "/" not in rest:
        return []
    floors = floors_of(wings[part])
    own = floor_of(rest, floors)
    if own is None:
        return [f"{path.rpartition('/')[0]} has no floor in tests/unit/layout/check_layout.py"]
    found = []
    for include in re.findall(rf'^\s*#\s*include\s*[<"]{part}/([^/>"]+/[^>"]+)', text, re.MULTILINE):
        taken = floor_of(include, floors)
        if taken is None or taken > own:
            found.append(f"includes {part}/{include}, a floor above {part}/{floors[own]}")
    return found


def breaches_of_shares(lines: dict[str, int], shares: dict[str, float] = LARGEST_SHARE) -> list[str]:
    """Rooms, named PART/WING/ROOM, that have more than their share of the part's lines."""
    found = []
    for part, most in shares.items():
        own = {name: count for name, count in lines.items() if name.startswith(f"{part}/")}
        total = sum(own.values())
        for name, count in own.items():
            if count > most * total:
                found.append(f"{name}: {count / total:.1%} of {part}; at most {most:.0%}")
    return found


def tracked_sources(root: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    return [Path(name) for name in listed if is_source(Path(name)) and (root / name).is_file()]


def unformatted(root: Path, sources: list[Path]) -> list[str]:
    """Files that clang-format would change; other versions than the project's lay out otherwise."""
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    if f"version {CLANG_FORMAT_MAJOR}." not in version:
        print(f"formatting not checked: it needs clang-format {CLANG_FORMAT_MAJOR}")
        return []
    names = [str(path) for path in sources if path.suffix in CXX]
    outcome = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", *names], cwd=root, capture_output=True, text=True
    )
    return sorted(set(re.findall(r"^([^\s:]+):\d+:\d+: error: code should", outcome.stderr, re.M)))


def main() -> int:
    root = Path(__file__).resolve().parents[3]
    sources = tracked_sources(root)
    breaches = []
    sizes = []
    rooms: dict[str, int] = {}
    for path in sources:
        text = (root / path).read_text()
        if path.name != "requirements.txt":
            breaches += [f"{path}: {breach}" for breach in breaches_of(str(path), text)]
        if path.suffix in CXX:
            sizes.append(len(text.splitlines()))
            breaches += [f"{path}: {breach}" for breach in breaches_of_floors(str(path), text)]
            room = room_of(str(path))
            rooms[room] = rooms.get(room, 0) + sizes[-1]
    breaches += breaches_of_shares(rooms)
    breaches += slivers.breaches(root)
    breaches += words.breaches(root)
    if sizes and statistics.median(sizes) > MEDIAN_LINES:
        breaches.append(f"median C++ file: {statistics.median(sizes)} lines; at most {MEDIAN_LINES}")
    breaches += [f"{path}: not as clang-format would have it" for path in unformatted(root, sources)]
    for breach in breaches:
        print(breach)
    print(f"{len(sources)} source files checked, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
