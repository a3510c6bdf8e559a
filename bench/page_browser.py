# SPDX-License-Identifier: Apache-2.0
"""Opens a page in headless Chromium and measures it: when what it shows is on the screen, and the time between frames
while it is dragged to and fro. One browser a page, so that none finds another's caches."""

import re
import statistics
import time
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Error, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
VIEWPORT = {"width": 1280, "height": 800}
FRAMES = 60
TOO_LONG_S = 120

# Notes the end of the second frame after `shown` became true, in ms since the navigation began.
WATCH = """
const shown = () => %s;
const look = () => {
  if (!shown()) return void requestAnimationFrame(look);
  requestAnimationFrame(() => requestAnimationFrame(() => { window.shown_after_ms = performance.now(); }));
};
requestAnimationFrame(look);
"""

# Drags `target` by a few pixels each frame, there and back, and gives the ms between the frames.
DRAG = """
async ([x, y, frames]) => {
  const target = document.elementFromPoint(x, y);
  const tell = (kind, to) => {
    const how = {bubbles: true, cancelable: true, composed: true, view: window, button: 0,
                 buttons: 1, clientX: to, clientY: y, pointerId: 1, isPrimary: true, pointerType: 'mouse'};
    target.dispatchEvent(new PointerEvent('pointer' + kind, how));
    target.dispatchEvent(new MouseEvent('mouse' + kind, how));
  };
  const next = () => new Promise(requestAnimationFrame);
  const taken = [];
  tell('down', x);
  let before = await next();
  for (let frame = 0; frame < frames; ++frame) {
    tell('move', x + (frame % 40 < 20 ? 1 : -1) * 6 * (frame % 20));
    const now = await next();
    taken.push(now - before);
    before = now;
  }
  tell('up', x);
  return taken;
}
"""


@contextmanager
def opened(scripts: dict[str, str] | None = None):
    """A page that nothing outside reaches; what `scripts` has answers in place of its address."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport=VIEWPORT).new_page()
        page.set_default_timeout(TOO_LONG_S * 1000)

        def answer(route):
            text = (scripts or {}).get(route.request.url)
            if text is None:
                route.abort()
            else:
                route.fulfill(body=text, content_type="text/javascript",
                              headers={"Access-Control-Allow-Origin": "*"})

        page.route(re.compile(r"^https?://"), answer)
        try:
            yield page
        finally:
            browser.close()


def loaded_after_ms(page: Page, file: Path, shown: str) -> float | str:
    """Until `shown` (JavaScript) is true and drawn; a sentence where that never comes."""
    page.add_init_script(WATCH % shown)
    try:
        page.goto(file.as_uri(), wait_until="commit")
        end = time.monotonic() + TOO_LONG_S
        while not (taken := page.evaluate("window.shown_after_ms")):  # Playwright's own way needs eval in the page
            if time.monotonic() > end:
                return f"never: {TOO_LONG_S} s waited"
            page.wait_for_timeout(100)
        return float(taken)
    except Error as error:
        return " ".join(str(error).split())[:200]


def frame_times_ms(page: Page, selector: str) -> tuple[float, float]:
    """Median and 95th percentile while the element is dragged by its middle."""
    box = page.locator(selector).first.bounding_box()
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    return middle_and_most(page.evaluate(DRAG, [*middle, FRAMES]))


def middle_and_most(taken: list[float]) -> tuple[float, float]:
    return statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
