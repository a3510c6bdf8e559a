# SPDX-License-Identifier: Apache-2.0
"""Writes known_names.def from CUDA's headers: what a CUDA release has under which name.

Usage: make_known_names.py [--check] [--headers FOLDER]     (default: .deps/cuda_newest/include)

A new CUDA release: put its headers there, run this, and look at what the difference does to memory:
what allocates or frees becomes a row of hooks.def, the rest is known and passes.
"""

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TARGET = Path(__file__).resolve().with_name("known_names.def")
TYPEDEFS = ["cudaTypedefs.h", "cudaEGLTypedefs.h", "cudaGLTypedefs.h", "cudaProfilerTypedefs.h",
            "cudaVDPAUTypedefs.h"]
RUNTIME = ["cuda_runtime_api.h", "cuda_gl_interop.h", "cuda_egl_interop.h",
           "cuda_vdpau_interop.h", "cuda_profiler_api.h", "cuda_device_runtime_api.h"]
WIDTH = 100
HEAD = """// SPDX-License-Identifier: Apache-2.0
//
// Made by make_known_names.py from CUDA {release}'s headers; do not edit.
//
// DRIVER(name, threads, versions…)  a function of the driver, the CUDA versions at which what the
//   name means has changed (the n-th is the symbol name_vn, the first one the name itself), and the
//   suffix of its variant for the per-thread default stream: none, ptsz or ptds
// RUNTIME(name)                     a function of the runtime
// RELEASE(number)                   which release that was (13000 is 13.0)
// clang-format off

#ifndef DRIVER
#define DRIVER(name, threads, ...)
#endif
#ifndef RUNTIME
#define RUNTIME(name)
#endif
#ifndef RELEASE
#define RELEASE(number)
#endif

RELEASE({release_number})
"""
TAIL = """
#undef DRIVER
#undef RUNTIME
#undef RELEASE
"""


def read(headers: Path, names: list[str]) -> str:
    found = [headers / name for name in names]
    return "\n".join(path.read_text(errors="replace") for path in found if path.is_file())


def driver_rows(headers: Path) -> list[str]:
    versions = defaultdict(set)
    threads = {}
    pattern = r"\(CUDAAPI \*PFN_(\w+?)_v(\d+)(?:_(ptsz|ptds))?\)"
    for name, version, thread in re.findall(pattern, read(headers, TYPEDEFS)):
        if thread:
            threads[name] = thread
        else:
            versions[name].add(int(version))
    only_threads = threads.keys() - versions.keys()
    assert not only_threads, f"without a version of their own: {only_threads}"
    return [
        f"DRIVER({name}, {threads.get(name, 'none')}, {', '.join(map(str, sorted(its)))})"
        for name, its in sorted(versions.items())
    ]


def runtime_rows(headers: Path) -> list[str]:
    names = set(re.findall(r"\b(cuda[A-Z]\w*)\s*\(", read(headers, RUNTIME)))
    declared = set(
        re.findall(r"(?:CUDARTAPI(?:_CDECL)?|cudaError_t)\s+(cuda[A-Z]\w*)\s*\(",
                   read(headers, RUNTIME))
    )
    base = {re.sub(r"(_v\d)?(_ptsz|_ptds)?$", "", name) for name in names & declared}
    return [f"RUNTIME({name})" for name in sorted(base)]


def packed(rows: list[str]) -> str:
    lines, line = [], ""
    for row in rows:
        if line and len(line) + 1 + len(row) > WIDTH:
            lines.append(line)
            line = ""
        line = f"{line} {row}".strip()
    return "\n".join([*lines, line]) + "\n"


def made_from(headers: Path) -> str:
    number = int(re.search(r"#define CUDA_VERSION (\d+)", read(headers, ["cuda.h"])).group(1))
    release = f"{number // 1000}.{number % 1000 // 10}"
    head = HEAD.replace("{release}", release).replace("{release_number}", str(number))
    return "\n".join([head, packed(driver_rows(headers)), packed(runtime_rows(headers))]) + TAIL


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--headers", type=Path, default=ROOT / ".deps" / "cuda_newest" / "include")
    options.add_argument("--check", action="store_true", help="only say whether it is up to date")
    chosen = options.parse_args()
    text = made_from(chosen.headers)
    if not chosen.check:
        TARGET.write_text(text)
        return 0
    if TARGET.read_text() == text:
        return 0
    print(f"{TARGET.name} is not what these headers give: run {Path(__file__).name}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
