# SPDX-License-Identifier: Apache-2.0
"""Other people's tests with and without libmemtrace.so; writes lists/ and RESULTS.md.

python tests/program/foreign/make_results.py [--only MODULE…] [--tests TEXT] [--pytorch DIR]
                                     [--packages DIR…] [--work DIR] [--into DIR] [--silence SECONDS]

--only      modules of these names; what else is in RESULTS.md stays
--tests     only tests with this text in their name; nothing is written
--pytorch   a checkout of PyTorch, of the release that MEMTRACE_PYTHON has: its tests instead of CPython's
--packages  folders with what PyTorch's tests import and this Python lacks (expecttest, hypothesis, …)
--silence   a test that lasts longer hangs (240)
--work      where logs go; those of modules without a difference are removed

Exit status 1: a test ended otherwise.
"""

import argparse
import datetime
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import compared  # noqa: E402
import suites  # noqa: E402
import results  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--tests", default="")
    parser.add_argument("--pytorch", type=Path)
    parser.add_argument("--packages", nargs="*", default=[])
    parser.add_argument("--work", type=Path)
    parser.add_argument("--into", type=Path, default=HERE)
    parser.add_argument("--silence", type=int, default=240)
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    modules = suites.pytorch(asked.pytorch, asked.packages) if asked.pytorch else suites.cpython()
    if asked.only:
        modules = [one for one in modules if one.name in asked.only]
    if not modules:
        print("no such module")
        return 1
    facts = {**suites.versions(), "date": datetime.date.today().isoformat()}
    if asked.pytorch:
        facts["checkout"] = (asked.pytorch / "version.txt").read_text().strip()
    work = asked.work or Path(tempfile.mkdtemp(prefix="memtrace-foreign-"))
    same = True
    for module in modules:
        try:
            found = compared.compare(replace(module, silence_s=asked.silence), work / module.name, asked.tests)
        except RuntimeError as error:
            print(f"{module.name}: {error}", flush=True)
            same = False
            continue
        print(f"{module.name}: {results.in_words(found)}", flush=True)
        for line in results.differences(found):
            print(f"    {line}", flush=True)
        same = same and not found.different and not found.traced.wrong
        if not asked.tests:
            results.keep(found, facts, asked.into)
    if not asked.tests:
        results.write(asked.into)
    print(f"logs: {work}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
