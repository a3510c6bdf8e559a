# SPDX-License-Identifier: Apache-2.0
"""HELD_OUT.md: verdicts on programs that the analyzer was not tuned on."""

import datetime

import results_table as table

HEAD = """# Verdicts on programs that were held out

{programs} programs ({speak} that accumulate, {quiet} that look as if they did), written after the analyzer
was finished and without reading it, each run once for {steps} steps on the simulated GPU (PyTorch {torch})
with libmemtrace.so, at revision {revision}. What is true of each was written down, and committed, before
memtrace ran on any of them (`held_out.py`). **Nothing was changed in the analyzer, the recorder, a truth or a
program after the verdicts were seen.** What is counted is as in [RESULTS.md](RESULTS.md). Made by
`tests/verdicts/make_results.py --held-out` on {date}.
"""


def text_of(results: list, revision: str) -> str:
    speaking = [one for one in results if table.speaks(one)]
    quiet = [one for one in results if not table.speaks(one)]
    steps = " or ".join(str(number) for number in sorted({one.run.steps for one in results}))
    return "".join([
        HEAD.format(programs=len(table.by_program(results)), speak=len(speaking), quiet=len(quiet),
                    steps=steps, torch=table.torch_version(), revision=revision,
                    date=datetime.date.today().isoformat()),
        "\n## Totals\n\n", table.totals(results),
        "\n## Wrong\n\n", wrongs(results),
        "\n## Programs that accumulate\n\n", table.table(speaking, table.COLUMNS),
        "\n## Programs that do not\n\n", table.table(quiet, {"verdict": "right"}),
        "\n## The truth\n\n", "\n".join(table.truths(one.run.truth) for one in results), "\n"])


def wrongs(results: list) -> str:
    """What was said, and beside it what is true."""
    lines = []
    for one in results:
        judged, truth = one.judged, one.run.truth
        asked = {name: getattr(judged, key) for name, key in table.COLUMNS.items()} if judged else {}
        if judged and False not in asked.values():
            continue
        wrong = [name for name, value in asked.items() if value is False]
        said = judged.said if judged else f"failed: {one.failure.splitlines()[-1]}"
        lines.append(f"- `{truth.program}`: wrong: {', '.join(wrong) or 'failed'}. Said: {said}. "
                     f"True: {truth.memory}: {truth.why}.")
    return "\n".join(lines) + "\n" if lines else "None.\n"
