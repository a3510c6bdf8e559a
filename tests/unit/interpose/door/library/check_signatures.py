# SPDX-License-Identifier: Apache-2.0
"""Checks the rows of hooks.def against CUDA's headers.

A wrapper passes on what it was called with: its parameters must travel in the same registers and
stack slots as those of the function that NVIDIA's headers declare, and `since` must be the version
under which cudaTypedefs.h has it. The comparison is the compiler's.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[5]
ROW = re.compile(
    r"^(?P<kind>ALLOCATES|RELEASES|NOTES|ADDS_NODE)\((?P<family>\w+), (?P<name>\w+), "
    r"(?P<since>\d+), \((?P<parameters>[^()]*)\), ",
    re.MULTILINE,
)
# Their arguments differ between CUDA 12 and 13: all that either version has is passed on.
WIDER = {"cudaMemPrefetchAsync", "cudaMemPrefetchAsync_ptsz", "cudaMemAdvise", "cudaGraphAddNode"}

COMPARISON = """
#include <cstddef>
#include <type_traits>
template <typename Ours, typename Theirs>
constexpr bool travels_alike(bool may_be_wider) {
  if constexpr (std::is_class_v<Ours> && std::is_class_v<Theirs>) {
    return sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);
  } else if constexpr (std::is_class_v<Ours> || std::is_floating_point_v<Ours> ||
                       std::is_floating_point_v<Theirs>) {
    return false;
  } else {  // one integer register; a structure of up to eight bytes of integers takes one too
    return sizeof(Ours) == sizeof(Theirs) || (may_be_wider && sizeof(Ours) > sizeof(Theirs));
  }
}
template <typename... Types>
struct list {};
template <typename... Rest>
constexpr bool pass_alike(list<Rest...>, list<>, bool wider) {
  return sizeof...(Rest) == 0 || (wider && sizeof...(Rest) < 6);
}
template <typename Theirs, typename... More>
constexpr bool pass_alike(list<>, list<Theirs, More...>, bool) {
  return false;
}
template <typename Ours, typename... Rest, typename Theirs, typename... More>
constexpr bool pass_alike(list<Ours, Rest...>, list<Theirs, More...>, bool wider) {
  return travels_alike<Ours, Theirs>(wider) && pass_alike(list<Rest...>{}, list<More...>{}, wider);
}
template <typename R, typename... A>
list<A...> parameters_of(R (*)(A...));
"""


def compare(row: re.Match, theirs: str, where: str) -> str:
    wider = "true" if row["name"] in WIDER else "false"
    ours = f"int (*)({row['parameters']})"
    return (
        f"static_assert(pass_alike(decltype(parameters_of(({ours})nullptr)){{}}, "
        f"decltype(parameters_of(({theirs})nullptr)){{}}, {wider}), "
        f'"{row["name"]}: not the parameters of {where}");\n'
    )


def driver_checks(rows: list[re.Match]) -> str:
    text = ""
    for row in rows:
        name, per_thread = re.subn(r"_pt[sd]z?$", "", row["name"])
        base = re.sub(r"_v\d$", "", name)
        suffix = "_ptsz" if per_thread else ""
        theirs = f"PFN_{base}_v{row['since']}{suffix}"
        text += compare(row, theirs, theirs)
    return text


def runtime_checks(rows: list[re.Match], header: Path) -> tuple[str, set[str]]:
    declared = set(re.findall(r"CUDARTAPI (cuda\w+)\s*\(", header.read_text()))
    text = ""
    found = set()
    for row in rows:
        base = re.sub(r"_ptsz$", "", row["name"])
        if base in declared:
            found.add(row["name"])
            text += compare(row, f"decltype(&{base})", base)
    return text, found


def complaints(compiler: str, include: list[Path], headers: list[str], text: str) -> list[str]:
    source = "#define __CUDA_API_VERSION_INTERNAL\n"
    source += "".join(f"#include <{name}>\n" for name in headers)
    source += '#include "interpose/ground/driver/call_arguments.h"\n' + COMPARISON + text
    folders = [f"-I{folder}" for folder in [ROOT, *include]]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-w", *folders, "-x", "c++", "-"]
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    found = re.findall(r"error: (.*)", result.stderr)
    if result.returncode != 0 and not found:
        found = [result.stderr]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hooks", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--cuda12", type=Path, required=True)
    parser.add_argument("--cuda13", type=Path, required=True)
    parser.add_argument("--refused", type=int, default=0, help="so many rows are wrong on purpose")
    options = parser.parse_args()
    rows = list(ROW.finditer(options.hooks.read_text()))
    driver = [row for row in rows if row["family"] == "driver"]
    runtime = [row for row in rows if row["family"] == "runtime"]
    found = complaints(
        options.compiler, [options.cuda13], ["cuda.h", "cudaTypedefs.h"], driver_checks(driver)
    )
    compared = set()
    for include in (options.cuda12, options.cuda13):
        text, names = runtime_checks(runtime, include / "cuda_runtime_api.h")
        compared |= names
        # Those of 12 come without the compiler's own, which have not changed.
        folders = [include, options.cuda13]
        found += complaints(options.compiler, folders, ["cuda_runtime_api.h"], text)
    found += [f"{row['name']}: in no header" for row in runtime if row["name"] not in compared]
    for complaint in found:
        print(complaint)
    print(f"{len(driver)} functions of the driver, {len(runtime)} of the runtime compared")
    if not driver or not runtime:
        return 1
    wrong = {
        row["name"]
        for row in rows
        if any(re.search(rf"\b{row['name']}\b|_{row['name']}_v", each) for each in found)
    }
    return 0 if len(wrong) == options.refused and bool(found) == bool(wrong) else 1


if __name__ == "__main__":
    sys.exit(main())
