# SPDX-License-Identifier: Apache-2.0
"""Makes docs/report.svg, the picture in the README: the demo's training runs out of memory on a simulated
GPU, and its report is drawn as a terminal of 100 columns shows it.

Usage: docs/make_picture.py     after scripts/build release; MEMTRACE_BUILD names another build"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("MEMTRACE_BUILD", ROOT / "build" / "release")).absolute()
PROGRAM = ["examples/train_transformer.py", "--batch", "16"]
COLUMNS = 100
LINE_HEIGHT = 18
COLUMN_WIDTH = 8.0
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
STYLE_OF = {  # of the terminal's codes that a report uses
    "0": "",
    "1": ' font-weight="bold"',
    "1;31": ' font-weight="bold" fill="#ff7b72"',
    "2": ' fill="#8b949e"',
}


def record(folder: Path) -> None:
    """Leaves `traces` in the folder. The run ends with an error, which is meant to happen."""
    outcome = subprocess.run(
        [BUILD / "memtrace", "dry-run", "--gpu", "rtx3090", "--no-report", "--output", folder / "traces",
         "--", ".venv/bin/python", *PROGRAM],
        cwd=ROOT, capture_output=True, text=True,
    )
    if not list((folder / "traces").glob("*.mtrace")):
        raise SystemExit(f"no trace was written:\n{outcome.stderr}")


def as_a_terminal_shows(command: list[str], folder: Path) -> str:
    ours, programs = pty.openpty()
    fcntl.ioctl(programs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    without = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    running = subprocess.Popen(command, cwd=folder, stdout=programs, env=without)
    os.close(programs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # so a terminal says that its last program has gone
        pass
    os.close(ours)
    if running.wait() != 0:
        raise SystemExit("the report failed")
    return shown.decode().replace("\r\n", "\n")


def drawn(line: str, number: int) -> str:
    """One line; a report's line has one style from its beginning to its end. Spaces that do not
    break: several of them stay several in every viewer."""
    code = re.match(r"\x1b\[([\d;]+)m", line)
    plain = re.sub(r"\x1b\[[\d;]*m", "", line)
    if not plain:
        return ""
    style = STYLE_OF[code.group(1)] if code else ""
    place = f'x="16" y="{30 + number * LINE_HEIGHT}" textLength="{len(plain) * COLUMN_WIDTH:g}"'
    words = escape(plain).replace(" ", "\u00a0")
    return f'<text {place} lengthAdjust="spacingAndGlyphs"{style}>{words}</text>'


def picture(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    width, height = 32 + COLUMNS * COLUMN_WIDTH, 30 + len(lines) * LINE_HEIGHT
    rows = "\n".join(filter(None, (drawn(line, number) for number, line in enumerate(lines))))
    return (
        "<!-- SPDX-License-Identifier: Apache-2.0. Made by docs/make_picture.py -->\n"
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" '
        f'font-family="{FONT}" font-size="13" fill="#e6edf3">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n{rows}\n</svg>\n'
    )


def main() -> None:
    # The report runs in that folder, so that its words name no folder of this machine.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record(folder)
        shown = as_a_terminal_shows([str(BUILD / "memtrace"), "report", "traces"], folder)
    (ROOT / "docs" / "report.svg").write_text(picture(shown))


if __name__ == "__main__":
    main()
