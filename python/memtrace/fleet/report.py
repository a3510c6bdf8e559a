# SPDX-License-Identifier: Apache-2.0
"""memtrace fleet report DIR: the questions, as text, JSON and a page."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from typing import Any, Callable, Dict, List, Sequence

from memtrace.fleet import as_json, page, questions, terminal, wanted
from memtrace.fleet.engine import Answered, Engine
from memtrace.fleet.errors import FleetError, say
from memtrace.fleet.questions import Question
from memtrace.fleet.store import Store


_MOST_NOTES = 8


def wishes(asked: argparse.Namespace) -> wanted.Wanted:
    if (asked.before is None) != (asked.after is None):
        raise FleetError("--before and --after go together: name the two periods to compare, as --before "
                         "2026-11-01..2026-11-14 --after 2026-11-15..2026-11-21, or --before release=1 --after release=2")
    periods = [wanted.period(text, option) if text else None
               for text, option in ((asked.before, "--before"), (asked.after, "--after"))]
    return wanted.Wanted(
        tuple(asked.project), tuple(asked.user), tuple(asked.gpu),
        wanted.day(asked.since, "--since") if asked.since else None,
        wanted.day(asked.until, "--until") if asked.until else None, periods[0], periods[1],
        wanted.prices(asked.prices) if asked.prices else ())


def engine_of(asked: argparse.Namespace, wishes_of: wanted.Wanted, asked_of: Sequence[Question]) -> Engine:
    store = Store(asked.dir)
    if asked.engine == "spark":
        from memtrace.fleet import spark

        return spark.Spark(store, wishes_of, asked.spark)
    from memtrace.fleet import duck

    texts = [asked.sql] if asked.sql else [f"SELECT * FROM {one.view}" for one in asked_of]
    return duck.Duck(store, wishes_of, questions.tables_of([*texts, "SELECT * FROM runs"]))


def chosen(names: List[str], has_periods: bool) -> List[Question]:
    """The questions of the report; by the names of views also views that it does not ask."""
    if not names:
        return [one for one in questions.QUESTIONS if has_periods or not one.needs]
    known = {one.view: one for one in questions.QUESTIONS}
    made = []
    for name in names:
        if name not in known and name not in questions.ORDER:
            raise FleetError(f"--question {name}: there is no such view; choose one of {', '.join(questions.ORDER)}")
        if name == "regressions" and not has_periods:
            raise FleetError("--question regressions: name the periods to compare, --before PERIOD --after PERIOD")
        made.append(known.get(name) or Question(name, f"View {name}", "1", (), "no rows"))
    return made


def ask(engine: Engine, asked_of: List[Question]) -> List[Answered]:
    return [Answered(one, engine.ask(f"SELECT * FROM {one.view} ORDER BY {one.order}")) for one in asked_of]


def _write(path: str, content: str, force: bool) -> None:
    """A file under its name only when it is whole; - is the standard output."""
    if path == "-":
        sys.stdout.write(content)
        sys.stdout.flush()
        return
    if not force and os.path.exists(path):
        raise FleetError(f"{path}: is there already; --force replaces it, or choose another name")
    folder = os.path.dirname(path) or "."
    unfinished = None
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # /dev/null must stay what it is
            with open(path, "w", encoding="utf-8") as out:
                out.write(content)
            return
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, prefix=".unfinished-", delete=False) as out:
            unfinished = out.name
            out.write(content)
        os.chmod(unfinished, 0o644 & ~_umask())
        os.replace(unfinished, path)
    except OSError as error:
        if unfinished and os.path.exists(unfinished):
            os.unlink(unfinished)
        raise FleetError(f"{path}: cannot be written: {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def run(asked: argparse.Namespace) -> int:
    if asked.html and asked.html != "-" and not asked.force and os.path.exists(asked.html):
        raise FleetError(f"{asked.html}: is there already; --force replaces it, or choose another name")
    if asked.json == "-" and asked.html == "-":
        raise FleetError("only one of --json - and --html - can have standard output")
    wished = wishes(asked)
    if asked.sql:
        asked_of = []
    else:
        asked_of = chosen(asked.question, wished.before is not None)
    engine = engine_of(asked, wished, asked_of)
    try:
        answers = [Answered(Question("sql", asked.sql, "", (), "no rows"), engine.ask(asked.sql))] if asked.sql else \
            ask(engine, asked_of)
        facts: Dict[str, Any] = as_json.facts(asked, wished, engine)
    finally:
        engine.close()
    for note in engine.notes[:_MOST_NOTES]:
        say(note)
    if len(engine.notes) > _MOST_NOTES:
        say(f"{len(engine.notes) - _MOST_NOTES} more files are left out: --json FILE names all")
    writers: List[Callable[[], None]] = []
    if asked.json:
        writers.append(lambda: _write(asked.json, as_json.text(facts, answers), True))
    if asked.html:
        writers.append(lambda: _write(asked.html, page.text(facts, answers), asked.force))
    for write in writers:
        write()
    if "-" not in (asked.json, asked.html):
        print(terminal.text(facts, answers, asked.rows), end="")
    return 1 if engine.notes else 0
