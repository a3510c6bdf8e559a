# SPDX-License-Identifier: Apache-2.0
"""The tables and the text of RESULTS.md."""

import datetime
import subprocess
import tomllib
from pathlib import Path

import judge
import runs
from corpus import CORPUS, SETS

EARLIER = tomllib.loads((Path(__file__).resolve().parent / "earlier.toml").read_text())
CUT_DOWN = ("short", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")

TEXT = """# Verdicts beside the truth

What memtrace says of the memory of {programs} programs ({speak} that accumulate, or whose filling it has to explain, {quiet} that
only seem to), each run once on the simulated GPU (PyTorch {torch}) in the default mode, and what is true of it, which
was written down first, from reading the program ([the manifest](../../corpus/manifest.toml), which says what the sets
are and which programs of the sets one to eight are left; revision 3f0bace has all 766). CI judges all of them.
Made by `tests/answers/verdicts/make_results.py` on {date} from revision {revision}; rows of another revision were
made there and are not made again.

- **Recall**: of programs that accumulate, those of which the right subject is said to (a device's lines, categories and
  phases count as the device). **False alarms**: of the others, those of which anything is said to leak, be it negligible.
- **Line**: the innermost line of the user's own code that is named first is one of those that the program marks (or the
  forward line that it belongs to). **Path**: what is said to keep it is what does. **Rate**: within 10 % of what was worked
  out by hand (25 % where sizes are drawn). A leak that is missed has a wrong line, path and rate.
- **Unknown**: the report says that nothing can be said yet, which is no false alarm, and no leak found either.

## Today

Most of these programs were used to make the rules, and the figures say that nothing of that is lost, not how often memtrace
is right on programs that it has not seen: that is the next table.

{today}
Asked beside: {beside}.

Rows `all of …` are of whole sets, of which some programs are kept. A census ends after 100 ms: of 300 programs that were
recorded while the machine had twenty times the work that it could do, five lost what keeps their memory by that, and with
it a path or a verdict. They are not in this table; a recording for CI wants a machine that is not in such a state.

## Unseen

When nobody who wrote the rules had seen anything of the set:

{unseen}
By rules made from the set's truths and reports, without its programs:

{reports_read}
Reading a set's reports mends it, and that carries over only in part: of programs that nobody has seen, count on one in five
that only fill something to be called a leak. Of the thirteenth set no rate was written down; its three alarms are one of a
replay buffer that is not full yet, and two of host memory that grew by 5 MiB. After the twelfth set somebody wrote 25
programs that leak, each with words in it that the newest rules look for: 14 were not called leaks; the rules were made
stricter, and three were left. Where the
report could not read the source, 15 of 36 in place of 8 of the sixth set were false alarms.

## Other lengths, other modes

{others}
`minimal` looks for no keeper, and names lines alone. A census took 7 ms (76 at most); `standard` had 8 in a run (9 at most),
where memory grew, `full` 9 (21 at most), by a timetable.

## Wrong today

{wrong}"""

HEAD = ["set", "leaks + others", "revision", "recall", "false alarms", "line", "path", "rate", "unknown"]
KEYS = ["recall", "alarms", "line", "path", "rate", "unknown"]


def share(pair: list[int] | None) -> str:
    if not pair or not pair[1]:
        return "–"
    return f"{pair[0]} of {pair[1]} ({100 * pair[0] / pair[1]:.1f} %)"


def table(rows: list[dict]) -> str:
    lines = ["| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD)]
    for row in rows:
        counts = f"{row['recall'][1]} + {row.get('alarms', [0, 0])[1]}"
        lines.append("| " + " | ".join([row["what"], counts, row["revision"], *(share(row.get(key)) for key in KEYS)]) + " |")
    return "\n".join(lines) + "\n"


def speaks(result) -> bool:
    return judge.must_speak(result.run.truth)


def counted(results: list) -> list:
    return [one for one in results if one.judged and not one.judged.too_short]


def asked(results: list, aspect: str) -> list[int]:
    answers = [getattr(one.judged, judge.ASPECTS[aspect]) for one in results]
    answers = [one for one in answers if one is not None]
    return [sum(answers), len(answers)]


def row_of(what: str, revision: str, results: list) -> dict:
    results = counted(results)
    speaking, quiet = [one for one in results if speaks(one)], [one for one in results if not speaks(one)]
    alarms = [sum(bool(one.judged.false_alarms) for one in quiet), len(quiet)]
    return {"what": what, "revision": revision, "recall": asked(speaking, "verdict"), "alarms": alarms,
            **{key: asked(speaking, key) for key in ("line", "path", "rate")},
            "unknown": [sum(one.judged.unknown for one in results), len(results)]}


def rows_of(results: list, revision: str) -> list[dict]:
    """One for each set; the sets of which a few programs are kept are one."""
    groups = {}
    for one in results:
        name = one.run.truth.set
        groups.setdefault("kept of one to eight" if name in CUT_DOWN else name, []).append(one)
    return [row_of(name, revision, them) for name, them in groups.items()]


def wrongs(results: list) -> str:
    """What was said, and beside it what is true."""
    lines = []
    for one in results:
        truth, found = one.run.truth, one.judged
        if found and not found.wrong():
            continue
        what = ", ".join(found.wrong()) if found else "failed"
        said = found.said if found else one.failure.splitlines()[-1]
        reasons = "; ".join(sorted({*truth.known_wrong.values(), *truth.by_chance.values()}))
        lines.append(f"- `{truth.name}`, {one.run.steps} steps: wrong: {what}. Said: {said}. True: {truth.memory}: {truth.why}."
                     + (f" Why: {reasons}." if reasons else ""))
    return "\n".join(lines) + "\n" if lines else "None.\n"


def torch_version() -> str:
    line = [runs.python(), "-c", "import importlib.metadata as m; print(m.version('torch'))"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def text_of(results: list, revision: str) -> str:
    speaking = [one for one in results if speaks(one)]
    beside = ", ".join(f"{aspect} {share(asked(counted(results), aspect))}" for aspect in ("phase", "category", "fix"))
    return TEXT.format(
        programs=len(results), speak=len(speaking), quiet=len(results) - len(speaking), revision=revision,
        torch=torch_version(), date=datetime.date.today().isoformat(), beside=beside,
        today=table(rows_of(results, revision) + EARLIER["whole"]), wrong=wrongs(results),
        **{name: table(EARLIER[name]) for name in ("unseen", "reports_read", "others")})


assert set(SETS) == {truth.set for truth in CORPUS}
