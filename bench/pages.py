# SPDX-License-Identifier: Apache-2.0
"""Writes bench/PAGES.md: size, time to make, time to open and time between frames of memtrace's page, of PyTorch's
memory_viz on PyTorch's own snapshot of the same run, and of memray's flame graph of as many events on the host.

Usage: bench/pages.py VIZ MEMRAY [FOLDER]
VIZ      a folder with MemoryViz.js and process_alloc_data.js, from torch/utils/viz of PyTorch's repository
MEMRAY   the memray command, in an environment of its own
FOLDER   keeps the recorded runs, for the next time"""

import datetime
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import page_browser
import page_viewers as viewers
from recording import BUILD, ROOT, command

SIZES = (100_000, 1_000_000, 10_000_000)
# Until the page's script runs, window.memtrace is the element of that name.
PAGE_SHOWN = """(window.memtrace?.ready?.then && (window.asked ??= window.memtrace.ready.then(() => { window.is_ready = true; })),
                 window.is_ready)"""


@dataclass
class Row:
    events: str
    viewer: str
    bytes: int | None = None
    making_s: float | None = None
    opening: float | str | None = None
    frames: tuple[float, float] | None = None

    def text(self) -> str:
        opening = f"{self.opening / 1000:.2f} s" if isinstance(self.opening, float) else self.opening or "–"
        cells = [
            self.events, self.viewer,
            "–" if self.bytes is None else f"{self.bytes / 1e6:.1f} MB",
            "–" if self.making_s is None else f"{self.making_s:.1f} s",
            opening,
            "–" if self.frames is None else f"{self.frames[0]:.0f} ms",
            "–" if self.frames is None else f"{self.frames[1]:.0f} ms",
        ]
        return "| " + " | ".join(cells) + " |"


def record(events: int, folder: Path) -> tuple[Path, Path]:
    """The trace and the snapshot of one run; made before, they are taken again."""
    snapshot = folder / "snapshot.pickle"
    if not snapshot.exists():
        folder.mkdir(parents=True, exist_ok=True)
        program = [sys.executable, ROOT / "bench/page_training.py", str(events), snapshot]
        subprocess.run([*command(True, str(folder)), *map(str, program)], check=True, capture_output=True)
    trace, = folder.glob("*.mtrace")
    return trace, snapshot


def our_page(trace: Path, page: Path) -> Row:
    made = viewers.timed([BUILD / "memtrace", "report", trace, "--html", page, "--force"])
    with page_browser.opened() as opened:
        opening = page_browser.loaded_after_ms(opened, page, PAGE_SHOWN)
        facts = json.loads(opened.evaluate("document.getElementById('memtrace-facts').textContent"))
        history = facts["histories"][0]
        opened.locator("section#blocks").evaluate("section => section.scrollIntoView()")
        opened.wait_for_timeout(500)
        frames = page_browser.frame_times_ms(opened, "section#blocks canvas")
    shown = f"memtrace, {history['blocks']['kept']:,} of {history['blocks']['recorded']:,} blocks"
    return Row(f"{history['events']:,}", shown, page.stat().st_size, made, opening, frames)


def viz_page(snapshot: Path, page: Path, scripts: dict[str, str]) -> Row:
    made = viewers.make_viz(snapshot, page)
    row = Row("the same run", "memory_viz, 15,000 largest blocks", page.stat().st_size, made)
    with page_browser.opened(scripts) as opened:
        row.opening = page_browser.loaded_after_ms(opened, page, viewers.VIZ_SHOWN)
        if isinstance(row.opening, float):
            row.frames = page_browser.frame_times_ms(opened, "svg")
    return row


def memray_page(memray: Path, events: int, folder: Path) -> Row:
    recorded, page = folder / "host.bin", folder / "memray.html"
    viewers.record_with_memray(memray, events, recorded)
    made = viewers.make_memray(memray, recorded, page)
    row = Row(f"{events:,} on the host", "memray flamegraph", page.stat().st_size, made)
    with page_browser.opened() as opened:
        row.opening = page_browser.loaded_after_ms(opened, page, viewers.MEMRAY_SHOWN)
    return row


def words(rows: list[Row], viz: Path, memray: Path, load: float) -> str:
    version = subprocess.run([memray, "--version"], capture_output=True, text=True).stdout.strip()
    digest = hashlib.sha256((viz / "MemoryViz.js").read_bytes()).hexdigest()[:12]
    head = "| events | viewer | file | to make | to open | a frame, median | a frame, 95th percentile |"
    return "\n".join([
        "# What the pages cost",
        "",
        f"Made by `bench/pages.py` on {datetime.date.today()}, on {os.cpu_count()} cores ({platform.machine()}), in headless",
        "Chromium without a GPU: SwiftShader draws WebGL and everything else in software, on the same cores. Nothing was measured",
        "with a graphics card, so whether 300,000 blocks move at 60 frames a second on one is not known.",
        f"The machine's load was {load:.0f} when it began: what else ran there makes every time longer.",
        f"memray {version}; `MemoryViz.js` of PyTorch's repository as of May 2026 (SHA-256 {digest}…) with d3 7 from npm, which its",
        "page would fetch from a CDN.",
        "",
        head, "| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
        *[row.text() for row in rows],
        "",
        "An event is an allocation, the request to free it, or its end: three a block, as PyTorch's recorder counts.",
        "*To open* is from the start of the navigation until the second frame in which the first view is drawn. *A frame* is the time",
        f"between two frames while the view of blocks is dragged to and fro, {page_browser.FRAMES} of them; what memory_viz drags is its timeline.",
        "",
        "What cannot be compared:",
        "",
        "- While it moves, memtrace's page paints the largest blocks, as many as there is time for, and all of them when it rests; with",
        "  a graphics card it has time for all. memory_viz always moves all that it has drawn.",
        "- memory_viz draws the 15,000 largest blocks and sums up the rest in one band; memtrace's page says how many of the blocks it has.",
        "  memory_viz's page holds each event with its stack, memtrace's the blocks it keeps, the curve of the whole run and its report.",
        "- memray knows no GPU. Its rows are of a program that asks the host's `malloc` as often. Its page holds one flame graph of the",
        "  moment of the most memory, no events, so its size does not grow; most of it are the libraries that `--no-web` puts in. There is",
        "  nothing to drag in it.",
        "- memtrace's time to make includes the whole analysis, that of memory_viz only the packing of a snapshot that is there, and the",
        "  run's own time grew for writing it.",
        "",
    ])


def main(viz: Path, memray: Path, folder: Path) -> None:
    scripts = viewers.viz_scripts(viz)
    load = max(0.0, os.getloadavg()[0])
    rows = []
    for events in SIZES:
        here = folder / str(events)
        trace, snapshot = record(events, here)
        rows.append(our_page(trace, here / "memtrace.html"))
        rows.append(viz_page(snapshot, here / "viz.html", scripts))
        rows.append(memray_page(memray, events, here))
        for row in rows[-3:]:
            print(row.text(), flush=True)
        (ROOT / "bench/PAGES.md").write_text(words(rows, viz, memray, load))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3] if len(sys.argv) > 3 else scratch).absolute())
