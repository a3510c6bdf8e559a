# SPDX-License-Identifier: Apache-2.0
"""PyTorch's memory_viz in headless Chromium, on a snapshot file as it is, byte by byte.

MEMTRACE_MEMORY_VIZ names a folder with what its page loads, none of which PyTorch's wheel has: MemoryViz.js and
process_alloc_data.js from torch/utils/viz of PyTorch's repository, and d3.mjs, d3 7 from npm as one module. Its page asks a
CDN for them; here requests are answered from that folder, and nothing leaves the machine."""

import os
import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

CHROMIUM = os.environ.get("MEMTRACE_CHROMIUM", "/usr/bin/chromium")
CDN = "https://cdn.jsdelivr.net/"
SCRIPTS = CDN + "gh/pytorch/pytorch@main/torch/utils/viz/"
D3 = CDN + "npm/d3@7/+esm"
PARTS = {"d3-axis@3": "axisLeft", "d3-scale@4": "scaleLinear", "d3-zoom@3": "zoom, zoomIdentity", "d3-brush@3": "brushX"}
TIMELINE, HISTORY = "Active Memory Timeline", "Allocator State History"
POOLS, SEGMENTS = "Allocated Memory (incl. Private Pools)", "Active Cached Segment Timeline"
SETTINGS = "Allocator Settings"
VIEWS = (TIMELINE, POOLS, HISTORY, SEGMENTS, SETTINGS)
HOST = "https://viewer.invalid/"
PAGE = f"""<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><script type="module">
import {{add_remote_files}} from "{SCRIPTS}MemoryViz.js";
add_remote_files([{{name: "snapshot", url: "{HOST}snapshot"}}]);
</script></body></html>"""


def folder() -> Path:
    named = os.environ.get("MEMTRACE_MEMORY_VIZ")
    if not named:
        pytest.skip("MEMTRACE_MEMORY_VIZ names no folder with MemoryViz.js, process_alloc_data.js and d3.mjs")
    return Path(named)


def answers(snapshot: Path) -> dict[str, tuple[bytes, str]]:
    script = "text/javascript"
    found = {
        HOST: (PAGE.encode(), "text/html"),
        HOST + "snapshot": (snapshot.read_bytes(), "application/octet-stream"),
        D3: ((folder() / "d3.mjs").read_bytes(), script),
    }
    for name in ("MemoryViz.js", "process_alloc_data.js"):
        found[SCRIPTS + name] = ((folder() / name).read_bytes(), script)
    for part, names in PARTS.items():
        found[f"{CDN}npm/{part}/+esm"] = (f"export {{{names}}} from '{D3}';".encode(), script)
    return found


class Viewer:
    """An open page; `errors` is what its console said of errors and warnings, `missed` what it asked for in vain."""

    def __init__(self, page: Page, snapshot: Path, patience_s: float):
        self.page = page
        self.errors: list[str] = []
        self.missed: list[str] = []
        known = answers(snapshot)

        def answer(route) -> None:
            url = route.request.url
            if url in known:
                body, kind = known[url]
                route.fulfill(body=body, content_type=kind, headers={"Access-Control-Allow-Origin": "*"})
            else:
                self.missed.append(url)
                route.abort()

        page.set_default_timeout(patience_s * 1000)
        page.on("console", lambda said: said.type in ("error", "warning") and self.errors.append(said.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.route(re.compile("^https?://"), answer)
        page.goto(HOST)
        page.wait_for_function("document.querySelectorAll('svg polygon').length > 1")

    def view(self, name: str, device: str | None = None) -> None:
        self.page.locator("select").nth(1).select_option(label=name)
        if device is not None:
            self.page.locator("select").nth(2).select_option(label=device)
        self.page.wait_for_timeout(300)

    def legend(self) -> list[str]:
        return self.page.evaluate(
            "[...document.querySelectorAll('svg text[font-family=helvetica]')]"
            ".filter(one => one.getBoundingClientRect().width > 0).map(one => one.textContent)")

    def events(self) -> list[str]:
        """In the allocator's history: the text shown of the event that was pressed last, then a line each."""
        return self.page.locator("pre:visible").all_inner_texts()

    def press(self, number: int) -> str:
        """An event of the history; what the page then says of the moment after it."""
        lines = self.page.locator("pre:visible")
        lines.nth(number + 1).dispatch_event("mousedown")
        return lines.first.inner_text()

    def rectangles(self) -> int:
        return self.page.locator("svg:visible rect").count()

    def polygons(self) -> list[dict]:
        """The shapes of the view that is shown: each one's colour and form, and its text when it is pointed at."""
        return self.page.evaluate("""() => {
          const view = [...document.querySelectorAll('body > div')].find(
            one => one.style.display !== 'none' && one.querySelector('svg'));
          const svg = view.querySelector('svg');
          const text = view.querySelector('pre');
          return [...svg.querySelectorAll('polygon')].map(one => {
            one.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
            return {fill: one.getAttribute('fill'), points: one.getAttribute('points'), text: text.textContent};
          });
        }""")


@contextmanager
def opened(snapshot: Path, patience_s: float = 30):
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing: run scripts/setup, or set MEMTRACE_CHROMIUM", pytrace=False)
    folder()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
            yield Viewer(page, snapshot, patience_s)
        finally:
            browser.close()
