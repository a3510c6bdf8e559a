# SPDX-License-Identifier: Apache-2.0
"""memtrace fleet …, as the memtrace command starts it: what was asked, and one sentence where it cannot be done."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, NoReturn, Optional, Sequence, Tuple

from memtrace import _tool
from memtrace.fleet.errors import FleetError, say

SUCCESS, FAILURE, USAGE = 0, 1, 2


class _Parser(argparse.ArgumentParser):
    def __init__(self, **how: Any) -> None:
        super().__init__(epilog="Exit status: 0 done, 1 it could not be done, 2 wrong usage", **how)

    def error(self, message: str) -> NoReturn:
        say(f"{message}; {self.prog} --help says more")
        sys.exit(USAGE)


def _label(text: str) -> Tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text}: write it as release=1.2")
    return name, value


def _count(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text}: write a number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"{text}: write a number of seconds")
    return value


def _spark_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spark", action="append", default=[], metavar="KEY=VALUE",
                        help="a setting of Spark, as spark.master=local[2]; may be given several times")


def _add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("add", help="write the summary of each run into the store, once",
                                 description="A trace is a run; so is a folder with traces; of a folder with neither, each "
                                             "folder below it that has some.")
    parser.add_argument("dir", metavar="DIR", help="the store: a folder, or a path that fsspec knows (s3://bucket/fleet)")
    parser.add_argument("traces", metavar="TRACE", nargs="*", help="traces (*.mtrace), or folders with traces")
    parser.add_argument("--project", help="what the runs belong to (default: the name of the program)")
    parser.add_argument("--user", help="whose they are (default: the owner of the trace)")
    parser.add_argument("--label", type=_label, action="append", default=[], metavar="NAME=VALUE",
                        help="a label of the runs, such as release=1.2; may be given several times")
    parser.add_argument("--each", action="store_true", help="each trace is a run of its own, whatever folder it is in")
    parser.add_argument("--scrub", action="store_true", help="hide what memtrace scrub hides, the user and the trace's name")
    parser.add_argument("--again", action="store_true", help="also runs that are there already: with this version")
    parser.add_argument("--jobs", type=_count, default=os.cpu_count() or 1, metavar="N", help="so many runs at once")
    parser.add_argument("--watch", metavar="FOLDER", help="go on and add each run of that folder once it is finished")
    parser.add_argument("--every", type=_seconds, default=10, metavar="SECONDS", help="how often to look (with --watch)")
    parser.add_argument("--quiet", type=_seconds, default=600, metavar="SECONDS",
                        help="take a run whose program was killed after so long without a write (with --watch)")
    parser.add_argument("--engine", choices=("local", "spark"), default="local", help="who makes the summaries")
    _spark_option(parser)
    parser.set_defaults(run=_add)


def _report_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("report", help="ask all runs of the store")
    parser.add_argument("dir", metavar="DIR", help="the store")
    parser.add_argument("--project", action="append", default=[], help="only of this one; may be given several times")
    parser.add_argument("--user", action="append", default=[], help="the same")
    parser.add_argument("--gpu", action="append", default=[], metavar="NAME", help="a part of the model's name, as A100")
    parser.add_argument("--since", metavar="DAY", help="runs that began on that day (UTC) or later: 2026-11-24, or 7d ago")
    parser.add_argument("--until", metavar="DAY", help="on that day or earlier")
    parser.add_argument("--before", metavar="PERIOD", help="what to compare --after with: FIRST..LAST, or LABEL=VALUE")
    parser.add_argument("--after", metavar="PERIOD", help="the same")
    parser.add_argument("--prices", metavar="FILE", help="CSV or JSON: gpu, price_per_hour, currency")
    parser.add_argument("--question", action="append", default=[], metavar="VIEW", help="only this one; several times")
    parser.add_argument("--sql", metavar="QUERY", help="ask that instead, of the tables and views")
    parser.add_argument("--rows", type=_count, default=10, metavar="N", help="of each question in the terminal")
    parser.add_argument("--json", metavar="FILE", help="also write all rows as JSON; - for standard output")
    parser.add_argument("--html", metavar="FILE", help="also write a page for a browser")
    parser.add_argument("--force", action="store_true", help="replace the page if it is there already")
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb", help="who answers")
    _spark_option(parser)
    parser.set_defaults(run=_report)


def _other_parsers(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("compact", help="put the runs of a date into few files, which are read faster")
    parser.add_argument("dir", metavar="DIR", help="the store")
    parser.add_argument("--until", metavar="DAY", help="only of that day (UTC) and earlier: 2026-11-24, or 1d ago")
    parser.set_defaults(run=_compact)
    parser = commands.add_parser("views", help="print the SQL of the questions, and what each says")
    parser.set_defaults(run=_views)
    parser = commands.add_parser("gpus", help="print the GPUs that runs are compared with, as JSON")
    parser.set_defaults(run=_gpus)


def _add(asked: argparse.Namespace) -> int:
    from memtrace.fleet import add, summarize, watch
    from memtrace.fleet.store import Store

    if not asked.traces and not asked.watch:
        raise FleetError("name the traces of a run, or a folder with them: memtrace fleet add DIR TRACE…")
    for project in ([] if asked.project is None else [asked.project]):
        if not project.strip() or len(project.encode()) > 200:
            raise FleetError("--project: needs a name of 1 to 200 bytes")
    store = Store(asked.dir)
    told = summarize.Told(asked.project, asked.user, tuple(asked.label), asked.scrub)
    if asked.engine == "spark":
        if asked.watch:
            raise FleetError("--watch goes with --engine local: it adds a few runs at a time")
        from memtrace.fleet import spark_add
    status = SUCCESS
    if asked.traces:
        outcome = add.Outcome()
        runs = add.runs_named(asked.traces, asked.each, outcome)
        if asked.engine == "spark":
            spark_add.add(store, runs, told, asked.again, asked.spark, outcome)
        else:
            add.add(store, runs, told, asked.again, asked.jobs, outcome)
        status = add.tell(outcome, asked.dir)
    if asked.watch:
        status |= watch.watch(store, asked.watch, told, asked.each, asked.jobs, asked.every, asked.quiet)
    return status


def _report(asked: argparse.Namespace) -> int:
    from memtrace.fleet import report

    return report.run(asked)


def _compact(asked: argparse.Namespace) -> int:
    import datetime

    from memtrace.fleet import compact, wanted

    until = wanted.day(asked.until, "--until") if asked.until else None
    behind = datetime.date.fromisoformat(until) + datetime.timedelta(days=1) if until else None
    return compact.run(asked.dir, behind.isoformat() if behind else None)


def _views(asked: argparse.Namespace) -> int:
    from memtrace.fleet import questions

    print(";\n\n".join(questions.statements()) + ";")
    return SUCCESS


def _gpus(asked: argparse.Namespace) -> int:
    print(_tool.run(["fleet", "gpus"]).stdout, end="")
    return SUCCESS


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = _Parser(prog="memtrace fleet", description="Many runs: small summaries of them, and questions to all.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    _add_parser(commands)
    _report_parser(commands)
    _other_parsers(commands)
    asked = parser.parse_args(arguments)
    try:
        return asked.run(asked)
    except (FleetError, _tool.ToolFailed, _tool.ToolMissing) as error:
        say(str(error))
    except BrokenPipeError:  # | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        say("stopped; what was added is whole, and the rest can be added again")
    return FAILURE


if __name__ == "__main__":
    sys.exit(main())
