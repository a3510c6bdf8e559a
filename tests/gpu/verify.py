# SPDX-License-Identifier: Apache-2.0
"""What the simulated GPU cannot prove, on a machine that has a real one; or, with --simulated, the
same checks on the simulator, as far as they go. Run it as scripts/verify_gpu."""

import argparse
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / name) for name in (
    "support", "training", "robustness", "attribution"))]

import check_categories  # noqa: E402
import check_constants  # noqa: E402
import check_cost  # noqa: E402
import check_events  # noqa: E402
import check_identical  # noqa: E402
import check_peaks  # noqa: E402
import check_samples  # noqa: E402
import check_sum  # noqa: E402
import machine  # noqa: E402
import tables  # noqa: E402

CHECKS = {
    "a": check_identical.check, "b": check_events.check, "c": check_sum.check,
    "d": check_cost.check, "e": None, "f": check_constants.check, "g": check_samples.check,
    "h": check_categories.check,
}


def run_check(letter: str, quick: bool, facts: dict) -> machine.Check:
    if letter == "e":
        return check_peaks.check(quick, facts)
    return CHECKS[letter](quick)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE, help="directory of the two results")
    parser.add_argument("--simulated", action="store_true", help="on the simulated GPU")
    parser.add_argument("--quick", action="store_true", help="fewer programs of each kind")
    parser.add_argument("--only", default="".join(CHECKS), metavar="LETTERS",
                        help=f"which checks, of {''.join(CHECKS)}")
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    os.environ["MEMTRACE_REAL_GPU"] = "0" if chosen.simulated else "1"
    facts = {**machine.facts_of_the_machine(), "quick": chosen.quick}
    done = [run_check(letter, chosen.quick, facts) for letter in CHECKS if letter in chosen.only]
    name = "simulated" if chosen.simulated else "-".join(facts["gpu"].lower().split())
    chosen.into.mkdir(parents=True, exist_ok=True)
    found = {"machine": facts, "checks": [check.as_json() for check in done]}
    (chosen.into / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    (chosen.into / f"{name}.md").write_text(tables.of(facts, done))
    for check in done:
        print(f"({check.letter}) {check.title}: {check.status}")
        for wrong in check.wrong:
            print(f"    {wrong}")
    print(f"written: {chosen.into / name}.json and .md")
    return 1 if any(check.wrong for check in done) else 0


if __name__ == "__main__":
    sys.exit(main())
