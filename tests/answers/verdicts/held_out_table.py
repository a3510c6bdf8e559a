# SPDX-License-Identifier: Apache-2.0
"""HELD_OUT.md: verdicts on programs that the analyzer was not tuned on."""

import datetime

import results_table as table

HEAD = """# Verdicts on programs that were held out

{programs} programs ({speak} that accumulate, {quiet} that look as if they did), other in kind or structure than
the corpus', each run once for {steps} steps with seed 0 on the simulated GPU (PyTorch {torch}) with
libmemtrace.so, analyzer and recorder as of {revision}. What is true of each was written down, and committed,
before memtrace ran on any of them (`held_out.py`), by someone who knew the corpus and
[verdicts.md](../../../docs/verdicts.md), but had not read the analyzer or the recorder. What is counted is as in
[RESULTS.md](RESULTS.md). Made by `tests/answers/verdicts/make_results.py --held-out` on {date}.
"""

# By hand; whoever makes the table anew after a change to the analyzer has to say so here.
FIRST_RUN = """
**This is the first run: nothing was changed in the analyzer, the recorder, a program or a truth because of its
verdicts.** No program failed. With twelve of a kind, the 95 % intervals are wide: recall 74 to
100 %, false positives 0 to 26 %, line first 52 to 98 %, path 74 to 100 %.

- **Both wrong lines are gradients** that backward made. Its thread has no Python frame, so the report names
  the forward line instead ("backward of held_born_again.py:25"). That line is not among those marked:
  the markers name `loss.backward()`, the model and the optimizer's step in the one program, and the call of
  `vmap(grad(…))` in the other. A reader finds the place from either; they are counted as wrong all the same.
- **Fixes** were not asked for in the truths. Read afterwards, two of twelve point the wrong way:
  `held_generator_pairs` is told of a reference cycle, though the path names the generator's list `seen`;
  `held_influence` is told to make model and optimizer once, probably because what it lists counts as gradients. A third,
  `held_packed_tensors`, is told to `detach()` what it keeps, which frees nothing there. The others fit, or
  fit in part.
"""


def text_of(results: list, revision: str) -> str:
    speaking = [one for one in results if table.speaks(one)]
    quiet = [one for one in results if not table.speaks(one)]
    steps = " or ".join(str(number) for number in sorted({one.run.steps for one in results}))
    return "".join([
        HEAD.format(programs=len(table.by_program(results)), speak=len(speaking), quiet=len(quiet),
                    steps=steps, torch=table.torch_version(), revision=revision,
                    date=datetime.date.today().isoformat()),
        FIRST_RUN, "\n## Totals\n\n", table.totals(results),
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
