# SPDX-License-Identifier: Apache-2.0
"""Notebooks: `%load_ext memtrace`, in any kernel, then `%%memtrace [--phase NAME]` at the top of a cell."""

from __future__ import annotations

import ast
import contextlib
import shlex
import sys

import memtrace
from memtrace.integrations import _cell
from memtrace.integrations._quiet import missing, quietly

try:
    from IPython.core.error import UsageError
    from IPython.display import display
except ImportError as error:
    raise missing(__name__, "IPython") from error

USAGE = "write %%memtrace, or %%memtrace --phase NAME, at the top of a cell"
NOT_RECORDED = ("memtrace: this cell ran and was not recorded ({}); run memtrace kernel install once in a terminal, then "
                "choose the memtrace kernel for this notebook")


class _Shown:
    """A result that notebooks show as a table and consoles as text."""

    def __init__(self, text: str, table: str):
        self._text, self._table = text, table

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._table


_why_not = "memtrace.stop() ended the recording"


def load(shell) -> None:
    """A kernel that was started without memtrace is recorded from here on."""
    global _why_not
    try:
        memtrace.start()
    except (memtrace.ToolMissing, RuntimeError) as error:
        _why_not = str(error)
    shell.register_magic_function(_magic_of(shell), magic_kind="cell", magic_name="memtrace")


def _magic_of(shell):
    def memtrace_cell(line, cell):
        phase = _phase_of(line) or f"In [{_number_of(shell)}]"
        # Where nothing is recorded, _show says so.
        recorded = memtrace.phase(phase) if memtrace.is_active() else contextlib.nullcontext()
        try:
            with recorded:
                _run(shell, cell)
        finally:  # a cell that fails, for want of memory above all, is worth a look too
            _show(shell, phase)

    memtrace_cell.__doc__ = "Runs the cell as a phase of memtrace, and says what it did to the GPU's memory; " + USAGE
    return memtrace_cell


def _number_of(shell) -> int:
    """That of the cell that runs: IPython's own count is one more in some versions by then."""
    entered = shell.user_ns.get("In")
    return len(entered) - 1 if isinstance(entered, list) and len(entered) > 1 else shell.execution_count


def _phase_of(line: str):
    try:
        words = shlex.split(line)
    except ValueError:
        raise UsageError(USAGE) from None
    if not words:
        return None
    if len(words) == 2 and words[0] == "--phase":
        return words[1]
    if len(words) == 1 and words[0].startswith("--phase=") and words[0] != "--phase=":
        return words[0].split("=", 1)[1]
    raise UsageError(USAGE)


def _run(shell, cell: str) -> None:
    """Runs the cell as IPython does without the magic: its last expression is shown, errors leave it."""
    source = "\n" + shell.transform_cell(cell)  # the magic's own line counts in what people see
    file = shell.compile.cache(source, _number_of(shell), raw_code="\n" + cell)
    tree = shell.transform_ast(shell.compile.ast_parse(source, filename=file))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(shell.compile(tree, file, "exec"), shell.user_ns)
    if last is not None:
        exec(shell.compile(ast.Interactive([last]), file, "single"), shell.user_ns)


def _place_of(shell):
    """Names the file of a cell as IPython's tracebacks do."""
    def place(file: str):
        named = getattr(shell.compile, "format_code_name", lambda _: None)(file)
        return " ".join(named) if named else None

    return place


@quietly("reading the recording of this cell")
def _show(shell, phase: str) -> None:
    if not memtrace.is_active():
        print(NOT_RECORDED.format(_why_not), file=sys.stderr)
        return
    report = memtrace.report()
    content = report.as_dict() if report is not None else None
    uses = _cell.uses_of(content, phase, _place_of(shell)) if content else []
    if uses:
        warning = _cell.warning_of(content)
        display(_Shown(_cell.as_text(uses, phase, warning), _cell.as_html(uses, phase, warning)))
    elif content and _cell.is_full(content):
        print(f"memtrace: this recording has {_cell.PHASES_KEPT} names of phases and keeps no more; restart the "
              "kernel, or give several cells one name with --phase", file=sys.stderr)
    else:
        print(f"{phase}: the cell allocated no GPU memory")
