# SPDX-License-Identifier: Apache-2.0
"""Sets memtrace's categories beside the truth for every program; writes RESULTS.md.

python tests/answers/attribution/make_results.py [--into FILE] [--only NAME...]
"""

import datetime
import functools
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import agreement  # noqa: E402
import result_cases  # noqa: E402
import truth_cases  # noqa: E402
import runs  # noqa: E402

CATEGORIES = ["weights", "buffers", "gradients", "optimizer_states", "inputs", "activations", "kv_cache"]

HEAD = """# The categories beside the truth

Each program ran {where} (torch {torch}) with libmemtrace.so,
while a harness of its own collected at the peak, from inside the program and without memtrace, what every block is: parameters and
buffers of every live module, `.grad`, `optimizer.state`, what the autograd graph keeps (read node by
node), what checkpoint recomputed, what transformers' caches hold, and what the program itself says are its batches. Compared block
by block, by address, in the same process. Made by `tests/answers/attribution/make_results.py` on {date}.

The truth speaks of a block's whole life: a gradient that is just being computed is a gradient. An
activation that the program still holds is one until its backward pass is over. Memory on its way
between ranks is gradients, or weights, by what it carries. What has none of these roles
(temporaries, workspaces, outputs, other memory) the truth cannot tell apart: it is *the rest*, which
memtrace's other categories match. *Unknown* matches nothing. Sizes in MiB, of blocks.

"Alone" is the peak of the same program without harness and memtrace.
"""


def mib(bytes_: int) -> str:
    return f"{bytes_ / 2**20:,.1f}"


def size_of(bytes_: int) -> str:
    return f"{mib(bytes_)} MiB" if bytes_ >= 1 << 20 else f"{bytes_:,} bytes"


def percent(value: float) -> str:
    return "100" if value == 100 else f"{int(value * 100) / 100:.2f}"  # never rounded up


def name_of(outcome: truth_cases.Outcome) -> str:
    rank = f", rank {outcome.rank}" if outcome.case.ranks > 1 else ""
    return f"{outcome.case.name}{rank}"


def named(category: str) -> str:
    return {"rest": "the rest"}.get(category, category.replace("_", " "))


def peak_row(outcome: truth_cases.Outcome) -> str:
    peak = outcome.moments["all"]
    worst = peak.disagreements.most_common(1)
    said = "none"
    if worst:
        (role, category, rule, what), size = worst[0]
        said = f"{size_of(size)}: {named(role)}, not {named(category)}: {what.split(' < ')[0].strip()}"
    cells = [name_of(outcome), outcome.case.what, mib(outcome.bare_peak), mib(peak.moment_bytes),
             len(at_peak(outcome)),
             percent(peak.known), percent(peak.agreeing), said]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def at_peak(outcome: truth_cases.Outcome):
    most = max(outcome.truth["moments"], key=lambda moment: moment["allocated_bytes"])
    return most["blocks"]


def categories_row(outcome: truth_cases.Outcome) -> str:
    peak = outcome.moments["all"]
    cells = [name_of(outcome)]
    cells += [f"{mib(peak.truth[name])} / {mib(peak.memtrace[name])}" for name in CATEGORIES]
    rest = sum(peak.memtrace[name] for name in agreement.REST)
    cells += [f"{mib(peak.truth['rest'])} / {mib(rest)}", mib(peak.memtrace["unknown"])]
    return "| " + " | ".join(cells) + " |"


def moments_row(outcome: truth_cases.Outcome) -> str:
    cells = [name_of(outcome)]
    for name in ("grad", "backward", "no_grad"):
        moment = outcome.moments.get(name)
        cells.append(f"{mib(moment.moment_bytes)}: {percent(moment.known)}, {percent(moment.agreeing)}"
                     if moment else "")
    return "| " + " | ".join(cells) + " |"


def table(head: list[str], right: int, rows: list[str]) -> str:
    line = ["---"] * (len(head) - right) + ["---:"] * right
    return "\n".join(["| " + " | ".join(cells) + " |" for cells in (head, line)] + rows) + "\n"


def verdict(outcome: truth_cases.Outcome) -> str | None:
    """The fault in it, if there is one."""
    good = outcome.moments["all"].good
    return None if good else f"{name_of(outcome)}: too little known or agreeing"


def write(target: Path, outcomes: list[truth_cases.Outcome], failures: list[str]) -> None:
    where = "on this machine's GPU" if runs.on_real_gpu() else f"on the simulated {runs.GPU}"
    torch = outcomes[0].truth["torch"] if outcomes else "?"
    text = HEAD.format(where=where, torch=torch, date=datetime.date.today().isoformat())
    text += "\n## At the peak\n\n" + table(
        ["program", "", "alone", "peak", "blocks", "% known", "% agreeing", "largest disagreement: truth, not memtrace"],
        0, [peak_row(outcome) for outcome in outcomes])
    text += "\n## By category at the peak: truth / memtrace\n\n" + table(
        ["program", *(name.replace("_", " ") for name in CATEGORIES), "the rest", "unknown"], 9,
        [categories_row(outcome) for outcome in outcomes])
    text += ("\n## At other moments: allocated, % known, % agreeing\n\nThe most that was ever allocated with "
             "grad mode on outside of backward (forward), inside of backward, and with grad mode off "
             "(optimizer, evaluation, checkpoint's forward).\n\n") + table(
        ["program", "grad mode", "backward", "no grad mode"], 3,
        [moments_row(outcome) for outcome in outcomes])
    if failures:
        text += "\n## What failed\n\n" + "\n".join(f"- {item}" for item in failures) + "\n"
    target.write_text(text)


def show(outcome: truth_cases.Outcome) -> None:
    for name, moment in outcome.moments.items():
        print(f"{name_of(outcome)}, {name}: {mib(moment.moment_bytes)} MiB, known {moment.known:.2f} %, "
              f"agreeing {moment.agreeing:.2f} %, missing {moment.missing_blocks}, foreign "
              f"{moment.foreign_blocks}, other size {moment.differing_sizes}", file=sys.stderr)
        for what, size in moment.disagreements.most_common(6):
            print(f"    {size:,}  {what}", file=sys.stderr)


def main() -> int:
    chosen = result_cases.options(HERE / "RESULTS.md")
    outcomes, failures = [], []
    run = functools.partial(truth_cases.run_case, also_bare=True)
    for _, found in result_cases.outcomes(truth_cases.CASES, chosen.only, run, failures):
        outcomes += found
        for outcome in found:
            show(outcome)
            failures += [wrong] if (wrong := verdict(outcome)) else []
    write(chosen.into, outcomes, failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
