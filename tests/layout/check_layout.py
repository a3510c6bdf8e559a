# SPDX-License-Identifier: Apache-2.0
"""Checks the house rules on the tracked files; prints each breach and exits 1 if there is one."""

import re
import statistics
import subprocess
import sys
from pathlib import Path

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
    if len(lines) > MAX_LINES:
        found.append(f"{len(lines)} lines; at most {MAX_LINES}")
    for folder, pattern in FORBIDDEN_INCLUDES.items():
        if not path.startswith(folder):
            continue
        for line in lines:
            include = re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)
            if include and re.match(pattern, include.group(1)):
                found.append(f"includes {include.group(1)}, against the direction of data")
    if "tests/layout/" not in path:
        for number, line in enumerate(lines, 1):
            if MARKERS.search(line):
                found.append(f"line {number}: a left-over marker")
            if MACHINE_PATHS.search(line):
                found.append(f"line {number}: a path of one machine")
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
    root = Path(__file__).resolve().parents[2]
    sources = tracked_sources(root)
    breaches = []
    sizes = []
    for path in sources:
        text = (root / path).read_text()
        if path.name != "requirements.txt":
            breaches += [f"{path}: {breach}" for breach in breaches_of(str(path), text)]
        if path.suffix in CXX:
            sizes.append(len(text.splitlines()))
    if sizes and statistics.median(sizes) > MEDIAN_LINES:
        breaches.append(f"median C++ file: {statistics.median(sizes)} lines; at most {MEDIAN_LINES}")
    breaches += [f"{path}: not as clang-format would have it" for path in unformatted(root, sources)]
    for breach in breaches:
        print(breach)
    print(f"{len(sources)} source files checked, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
