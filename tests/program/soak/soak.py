# SPDX-License-Identifier: Apache-2.0
"""A long run bare and traced, side by side: does memtrace let memory, descriptors or the trace grow?

python tests/program/soak/soak.py [--minutes N] [--every SECONDS] [--period SECONDS] [--into FILE]

Exit status 1: something is wrong, and says what.
"""

import argparse
import datetime
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import watched  # noqa: E402

# How much more than bare a traced program's own memory may grow after its first third, however long
# it runs: bare, it goes up and down by half of it.
MOST_GROWTH = 6 << 20
MOST_BYTES_AN_EVENT = 2.0
SETTLED_EVENTS = 100_000  # below that, names and stacks that come once weigh most


def growth(samples: list[dict], name: str) -> int:
    """From the end of the first third to the end; the median of three, as a peak may be sampled."""
    def around(index: int) -> int:
        values = [one[name] for one in samples[max(0, index - 2):index + 1]]
        return sorted(values)[len(values) // 2]

    return around(len(samples) - 1) - around(len(samples) // 3 + 1)


def least(samples: list[dict], name: str) -> int:
    return min(one[name] for one in samples)


def what_is_wrong(found: dict) -> list[str]:
    wrong = []
    bare, traced, trace = found["bare"], found["traced"], found["trace"]
    for name in ("bare", "traced"):
        if found[name]["status"] != 0 or not found[name]["over"]:
            wrong.append(f"{name}: exit status {found[name]['status']}: {found[name]['errors']}")
    common = min(len(bare["cycles"]), len(traced["cycles"]))
    if common < 3 or bare["cycles"][:common] != traced["cycles"][:common]:
        wrong.append("the two runs did not count the same")
    counted = list(map(int, traced["cycles"][-1].split()[-3:])) if traced["cycles"] else [0, 0, 0]
    if counted != [trace["alloc"], trace["free_requested"] - freed_at_the_end(counted, trace), trace["oom"]]:
        wrong.append(f"PyTorch counted {counted}, the trace has {trace}")
    if trace["dropped"] or not trace["clean_exit"]:
        wrong.append(f"the trace is not whole: {trace}")
    if trace["events"] > SETTLED_EVENTS and bytes_an_event(trace) > MOST_BYTES_AN_EVENT:
        wrong.append(f"{bytes_an_event(trace):.2f} bytes an event")
    if len(bare["samples"]) < 6 or len(traced["samples"]) < 6:
        return [*wrong, "too few samples to judge"]
    more = growth(traced["samples"], "anonymous") - growth(bare["samples"], "anonymous")
    if more > MOST_GROWTH:
        wrong.append(f"memory grew by {more:,} bytes more than bare")
    for name in ("descriptors", "threads"):
        third = len(traced["samples"]) // 3
        # The least, since workers come and go, in each run at other samples.
        early, late = (least(part, name) - least(bare["samples"], name) for part in (
            traced["samples"][:2 * third], traced["samples"][2 * third:]))
        if late > early:
            wrong.append(f"{name} grow: {early} more than bare, then {late}")
    return wrong


def freed_at_the_end(counted: list[int], trace: dict) -> int:
    """Memory that the program had until its end is freed after it counted; never more than it had."""
    return min(max(0, trace["free_requested"] - counted[1]), counted[0] - counted[1])


def bytes_an_event(trace: dict) -> float:
    return (trace["bytes"] - trace["fixed_bytes"]) / max(1, trace["events"])


def in_words(found: dict) -> list[str]:
    trace = found["trace"]
    lines = [
        f"{len(found['bare']['cycles'])} cycles bare, {len(found['traced']['cycles'])} traced; "
        f"{trace['events']:,} events in {trace['bytes']:,} bytes, {trace['fixed_bytes']:,} of them fixed: "
        f"{bytes_an_event(trace):.2f} bytes an event; {trace['files']} traces, all readable",
        "", "| s | | cycles | RSS anonymous | RSS of files | descriptors | threads | trace |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for name in ("bare", "traced"):
        samples = found[name]["samples"]
        # A dozen are enough to see which way it goes.
        shown = [one for number, one in enumerate(samples) if number % max(1, len(samples) // 12) == 0]
        for one in [*shown, *samples[-1:]] if samples and shown[-1] != samples[-1] else shown:
            lines.append(f"| {one['at_s']:.0f} | {name} | {one['cycle']} | {one['anonymous']:,} | "
                         f"{one['file_backed']:,} | {one['descriptors']} | {one['threads']} | "
                         f"{one['trace_bytes']:,} |")
    if len(found["bare"]["samples"]) >= 6:
        grown = [growth(found[name]["samples"], "anonymous") for name in ("bare", "traced")]
        lines += ["", f"After the first third, anonymous memory grew by {grown[0]:,} bytes bare and by "
                      f"{grown[1]:,} traced."]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--every", type=float, default=60, help="seconds between two samples")
    parser.add_argument("--period", type=float, default=5, help="seconds for a cycle at least")
    parser.add_argument("--into", type=Path, help="a Markdown file for the numbers")
    asked = parser.parse_args()
    found = watched.observe(60 * asked.minutes, asked.every, asked.period)
    wrong = what_is_wrong(found)
    outcome = ["failed:", *(f"- {one}" for one in wrong)] if wrong else ["passed"]
    head = [f"# Soak: {asked.minutes:g} minutes on {datetime.date.today().isoformat()}", "",
            "`tests/program/soak/program.py` bare and traced side by side on the simulated GPU; made by "
            "`scripts/soak`.", ""]
    text = "\n".join([*head, *in_words(found), "", *outcome]) + "\n"
    print(text)
    if asked.into:
        asked.into.write_text(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
