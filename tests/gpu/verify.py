# SPDX-License-Identifier: Apache-2.0
"""Checks what the simulated GPU cannot prove, on a machine that has a real one; or, with --simulated, the
same checks on the simulator, as far as they go. Run it as scripts/verify_gpu."""

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / name) for name in (
    "support", "trace/training", "program/robustness", "answers/attribution"))]

import in_seconds  # noqa: E402
import machine  # noqa: E402
import parts  # noqa: E402
import json_rows  # noqa: E402
import tables  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE, help="directory of the results")
    parser.add_argument("--simulated", action="store_true", help="on the simulated GPU")
    parser.add_argument("--quick", action="store_true", help="fewer programs of each kind")
    parser.add_argument("--list", action="store_true", help="name the parts, and what of them is done")
    parser.add_argument("--part", nargs="+", metavar="N|NAME", help="these parts only")
    parser.add_argument("--only", metavar="LETTERS", default="".join(parts.CHECKS),
                        help=f"only parts of these checks, of {''.join(parts.CHECKS)}")
    parser.add_argument("--minutes", type=float, default=9,
                        help="a part begins no program after that; run it again for the rest")
    parser.add_argument("--seconds", type=float, help="all parts, as far as they go in that time, and "
                        "their results in one file, gpu.tgz")
    return parser.parse_args()


def chosen_parts(asked: argparse.Namespace) -> list[parts.Part]:
    if asked.part:
        try:
            return parts.named(asked.part)
        except KeyError as unknown:
            sys.exit(f"verify_gpu: there is no part {unknown}; --list names them")
    return [one for one in parts.PARTS if one.letter in asked.only]


def list_parts(folder: Path, facts: dict) -> None:
    done = {one["part"]: one for one in parts.kept_in(folder, facts)}
    for number, part in enumerate(parts.PARTS, 1):
        kept = done.get(part.name)
        state = "-" if kept is None else (
            f"{parts.check_of(kept).status}, {sum(kept['seconds'].values()):.0f} s"
            + (f", {len(kept['left'])} left" if kept["left"] else ""))
        print(f"{number:3} {part.name:18} ({part.letter}) {len(part.units(facts)):3} programs  "
              f"{state:24} {part.what}")


def write(into: Path, name: str, facts: dict, kept: list[dict]) -> list[machine.Check]:
    checks = parts.merged(kept)
    spent = [{"part": one["part"], "date": one["machine"]["date"], "left": one["left"],
              "programs": len(one["seconds"]), "seconds": round(sum(one["seconds"].values()))}
             for one in kept]
    found = {"machine": facts, "parts": spent, "checks": [check.as_json() for check in checks]}
    json_rows.write(into / f"{name}.json", found)
    (into / f"{name}.md").write_text(tables.of(facts, checks, spent))
    return checks


def main() -> int:
    asked = arguments()
    chosen = chosen_parts(asked)
    os.environ["MEMTRACE_REAL_GPU"] = "0" if asked.simulated else "1"
    facts = {**machine.facts_of_the_machine(), "quick": asked.quick}
    name = "simulated" if asked.simulated else "-".join(facts["gpu"].lower().split())
    folder = asked.into / "parts" / name
    if asked.list:
        list_parts(folder, facts)
        return 0
    if asked.seconds:
        asked.into.mkdir(parents=True, exist_ok=True)
        flags = [f"--{flag}" for flag in ("simulated", "quick") if getattr(asked, flag)]
        in_seconds.run(asked.seconds, asked.into.resolve(), flags)
        checks = write(asked.into, name, facts, parts.kept_in(folder, facts))
        print((asked.into / f"{name}.md").read_text())
        print(f"all results: {in_seconds.archive(asked.into)}")
        return 1 if any(check.wrong for check in checks) else 0
    wrong = False
    for part in chosen:
        kept = parts.run(part, facts, folder, 60 * asked.minutes)
        # After each: whoever runs out of time has a table of all that was done.
        write(asked.into, name, facts, parts.kept_in(folder, facts))
        check = parts.check_of(kept)
        print(f"({check.letter}) {part.name}: {check.status}, {sum(kept['seconds'].values()):.0f} s"
              + (f"; {len(kept['left'])} programs left, run it again" if kept["left"] else ""))
        for one in check.wrong:
            print(f"    {one}", flush=True)
        wrong = wrong or bool(check.wrong)
    print(f"written: {asked.into / name}.json and .md, and {folder}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
