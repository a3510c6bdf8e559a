# SPDX-License-Identifier: Apache-2.0
"""Runs what is compared with the published figures, and writes PUBLISHED.md.

    python tests/answers/fit/published/make_results.py [SOURCE...]   measures what is not in measured.json, then writes

One dry run a figure, one at a time; a largest batch is found by bisection over several, without memtrace fit.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "support")]

import figures  # noqa: E402
import json_rows  # noqa: E402
import runs  # noqa: E402
import warm  # noqa: E402

MEASURED = HERE / "measured.json"
IMPORTS = ("transformers.models.bert.modeling_bert",)
CONTEXT = 256 * figures.MIB  # the simulator's, unverified

HEAD = """# Figures that others published for real GPUs, and the same by dry run

Each row is a figure of a public table, and a run of our own program (`programs/`) with random weights, the right
architecture and sizes, on the simulated GPU. The software is another one: theirs in the list, here PyTorch 2.11 and
transformers 5.23 on a simulated CUDA 13. What could not be read from the source is an assumption, and says so.
Made by `make_results.py`; the figures and commands are in `figures.py`.

"""


def key(figure: figures.Figure) -> str:
    return " ".join(filter(None, (figure.model, figure.memory, figure.program, figure.arguments)))


def measure(figure: figures.Figure) -> dict:
    arguments, _, most = figure.arguments.partition("--largest-of ")
    if most:
        highest, *others = most.split()
        return {"largest": largest(figure, [*arguments.split(), *others], int(highest))}
    return run(figure, arguments.split())


def run(figure: figures.Figure, arguments: list[str]) -> dict:
    ended = warm.run([runs.python(), HERE / "programs" / figure.program, *arguments], None, 1800, gpu=figure.model,
                     memory=figure.memory or None, env={"HF_HUB_OFFLINE": "1"}, imports=IMPORTS)
    if ended.status == 0:
        return json.loads(ended.stdout.splitlines()[-1])
    said = ended.stderr.decode(errors="replace")
    if "OutOfMemoryError: CUDA out of memory" in said:
        return {"out_of_memory": True}
    sys.exit(f"{key(figure)}: exit status {ended.status}\n{said[-3000:]}")


def largest(figure: figures.Figure, arguments: list[str], most: int) -> int:
    def fits(batch: int) -> bool:
        return "out_of_memory" not in run(figure, [*arguments, "--batch", str(batch)])

    low, high = 0, 1
    while high <= most and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def compared(figure: figures.Figure, found: dict) -> tuple[str, str, float | None]:
    """Their figure, the one found here, and the difference as a share."""
    if figure.compares == "fits":
        return "out of memory", "out of memory" if "out_of_memory" in found else "fits", None
    if figure.compares == "largest":
        return f"{figure.published:.0f}", str(found["largest"]), found["largest"] - figure.published
    theirs = figure.published - figure.outside
    digits = 0 if figure.unit == figures.MIB else 2
    said = f"{figure.published:.{digits}f}" + (f" − {figure.outside:.0f}" if figure.outside else "")
    if "out_of_memory" in found:
        return said, "out of memory", None
    ours = found[figure.compares] / figure.unit
    return said, f"{ours:.{digits}f}", ours / theirs - 1


def agrees(figure: figures.Figure, found: dict) -> str:
    said, ours, difference = compared(figure, found)
    if figure.compares == "largest":
        return "equal" if not difference else f"{difference:+.0f}"
    if difference is None:
        return "equal" if said == ours else "differs"
    return f"{difference:+.1%}"


def section(name: str, measured: dict) -> str:
    source, rows = figures.SOURCES[name], [each for each in figures.ALL if each.source == name]
    left_out = [each.what for each in rows if key(each) not in measured]
    text = f"## {source.name}\n\n{source.where}; {source.measured}; {source.software}. Taken over: {source.same}.\n\n"
    unit = {figures.MIB: "MiB", figures.GIB: "GB (here of 2^30 bytes)", 10 ** 9: "GB"}.get(rows[0].unit, "batch")
    text += f"| what | GPU | published, {unit} | dry run | difference |\n| --- | --- | ---: | ---: | ---: |\n"
    for figure in (each for each in rows if key(each) in measured):
        said, ours, _ = compared(figure, measured[key(figure)])
        text += f"| {figure.what} | {figure.gpu} | {said} | {ours} | {agrees(figure, measured[key(figure)])} |\n"
    text += f"\nNot run yet: {'; '.join(left_out)}.\n" if left_out else ""
    return text + (f"\n{source.differences}\n" if source.differences else "")


def summary(measured: dict) -> str:
    run = [each for each in figures.ALL if key(each) in measured]
    shares = [abs(compared(each, measured[key(each)])[2] or 0) for each in run if each.compares in ("allocated", "reserved")]
    batches = [compared(each, measured[key(each)])[2] for each in run if each.compares == "largest"]
    verdicts = [agrees(each, measured[key(each)]) for each in run if each.compares == "fits"]
    within = [sum(share <= limit for share in shares) for limit in (0.02, 0.05, 0.10)]
    return (f"{len(run)} of {len(figures.ALL)} cells were run, of {len({each.source for each in run})} sources. Of {len(shares)} peaks {within[0]} are within 2 %, {within[1]} within "
            f"5 %, {within[2]} within 10 %; the largest difference is {max(shares, default=0):.0%}. Of {len(verdicts)} that ran out of memory "
            f"{verdicts.count('equal')} do here. Of {len(batches)} largest batches {sum(not each for each in batches)} are equal, "
            f"{sum(abs(each) <= 1 for each in batches)} at most one off.\n\n")


def main() -> None:
    measured = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    for figure in figures.ALL:
        if key(figure) not in measured and (not sys.argv[1:] or figure.source in sys.argv[1:]):
            measured[key(figure)] = measure(figure)
            json_rows.write(MEASURED, measured, sort_keys=True)
            print(f"{figure.source}: {figure.what}: {compared(figure, measured[key(figure)])}", flush=True)
    if measured:
        text = HEAD + summary(measured) + "\n".join(section(name, measured) for name in figures.SOURCES)
        text += "\n" + (HERE / "notes.md").read_text()
        (HERE / "PUBLISHED.md").write_text(text)


if __name__ == "__main__":
    main()
