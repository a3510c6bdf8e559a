# SPDX-License-Identifier: Apache-2.0
"""Refuses variables of libmemtrace.so's functions and classes that are initialised when they are first needed.

Their guard is a lock: a process that forks while another thread is inside one leaves it locked in the child, whose
next event waits for ever. So each static says constexpr or constinit, which the compiler checks; what has to be found
out is a found_once (interpose/ground/base/found_once.h).
"""

import re
import sys

import check_layout

# One that is indented, up to its initialiser or its end; functions have a parenthesis before that.
VARIABLE = re.compile(r"^[ \t]+static\b(?P<declared>[^=;{()]*)[=;{]", re.MULTILINE)
FOUND_AT_BUILD_TIME = re.compile(r"\b(constexpr|constinit)\b")


def breaches(path: str, text: str) -> list[str]:
    if not path.startswith("interpose/"):
        return []
    return [f"line {text.count(chr(10), 0, one.start()) + 1}: a static that is neither constexpr nor constinit"
            for one in VARIABLE.finditer(text) if not FOUND_AT_BUILD_TIME.search(one["declared"])]


def main() -> int:
    root = check_layout.Path(__file__).resolve().parents[3]
    found = [f"{path}: {breach}" for path in check_layout.tracked_sources(root) if path.suffix in check_layout.CXX
             for breach in breaches(str(path), (root / path).read_text())]
    print("\n".join(found) or "no static is initialised when it is first needed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
