# SPDX-License-Identifier: Apache-2.0
"""The lower limits of sizes: what is too small to stand by itself. check_layout.py runs this.

A header of one user and fewer than 40 lines goes into that user, a C++ file of fewer than 25 lines into another;
SHORT_FOR_A_REASON has those that stay. "python3 tests/unit/layout/slivers.py" prints what is too small.
"""

import re
import subprocess
from collections import defaultdict
from pathlib import Path, PurePosixPath

SMALLEST_HEADER = 40  # lines, with one user
SMALLEST_FILE = 25
PRODUCT = ("analyzer/", "interpose/", "simulator/", "include/", "libc_floor/")
# A file that is short for a reason: its path, and the reason.
SHORT_FOR_A_REASON = {
    r"/catch_main\.cpp$": "defines Catch's main function, which takes long to compile, and nothing else",
    r"/catch\.h$": "two versions of Catch2 under one name",
    r"^tests/unit/.*/bad_samples/": "a program that a check must refuse",
    r"_tests\.cpp$": "few tests of a small module",
    r"/fmt_inside\.cpp$": "compiles a library's sources, with options of its own",
    r"_fuzzer\.cpp$": "an entry point of libFuzzer",
    r"^tests/unit/support/": "shared by tests of several rooms",
    r"^bench/": "a program that a benchmark compares with",
    r"^simulator/core/export\.h$": "one macro for all that the simulated CUDA shows",
    r"^interpose/ground/driver/nvml\.h$": "apart from the thread that asks it: one file would be too long",
    r"^simulator/stubs/device_writes\.cpp$": "a test of the dispatcher has another in its place",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def users_of(texts: dict[str, str]) -> dict[str, set[str]]:
    """Header: the files that include it, by its path from the top, from include/, or beside them."""
    users = defaultdict(set)
    for file, text in texts.items():
        for name in INCLUDE.findall(text):
            beside = str(PurePosixPath(file).parent / name)
            for candidate in (name, f"include/{name}", beside):
                if candidate in texts:
                    users[candidate].add(file)
                    break
    return users


def part_of(file: str) -> str:
    return file.split("/")[0]


def breaches_of_slivers(texts: dict[str, str]) -> list[str]:
    """The C++ files, given by path, that are below the lower limits. One line each, which begins with the path."""
    users = users_of(texts)
    found = []
    for file, text in sorted(texts.items()):
        if any(re.search(pattern, file) for pattern in SHORT_FOR_A_REASON):
            continue
        lines = len(text.splitlines())
        own = users[file] - {re.sub(r"\.h$", ".cpp", file)}
        product = {one for one in own if one.startswith(PRODUCT)}
        is_tested = any(one.startswith("tests/unit/") for one in own)
        is_header = file.endswith(".h") and file.startswith(PRODUCT)
        if is_header and lines < SMALLEST_HEADER and len(product) == 1 and not is_tested:
            user = next(iter(product))
            if part_of(user) == part_of(file):  # else it is what one part shows to another
                found.append(f"{file}: {lines} lines for one user; it belongs into {user}")
                continue
        if lines < SMALLEST_FILE and not (file.endswith(".h") and len(own) > 1):
            found.append(f"{file}: {lines} lines; at least {SMALLEST_FILE}, or a reason in {Path(__file__).name}")
    return found


def texts_below(root: Path) -> dict[str, str]:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.cpp", "*.h"],
                            cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    folders = (*PRODUCT, "tests/unit/", "bench/")
    return {name: (root / name).read_text() for name in listed if name.startswith(folders) and (root / name).is_file()}


def breaches(root: Path) -> list[str]:
    return breaches_of_slivers(texts_below(root))


def main() -> None:
    for one in breaches(Path(__file__).resolve().parents[3]):
        print(one)


if __name__ == "__main__":
    main()
