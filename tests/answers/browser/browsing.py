# SPDX-License-Identifier: Apache-2.0
"""Opens pages in headless Chromium, and keeps what it says: errors, requests, breaches of the page's policy."""

import os
import re
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = os.environ.get("MEMTRACE_CHROMIUM", "/usr/bin/chromium")
PATIENCE_S = 30
WIDE, PHONE = (1440, 900), (390, 844)
# Runs in each page before the page's own script.
LISTEN = """
window.breaches = [];
document.addEventListener('securitypolicyviolation',
                          event => window.breaches.push(event.effectiveDirective + ' ' + event.blockedURI));
"""


@contextmanager
def chromium():
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing: run scripts/setup, or set MEMTRACE_CHROMIUM", pytrace=False)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield launched
        finally:
            launched.close()


class Opened:
    """A page that is ready; `page` is Playwright's."""

    def __init__(self, browser: Browser, file: Path, size: tuple[int, int] = WIDE, theme: str = "light",
                 fragment: str = "", phone: bool = False):
        self.file = file
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=theme, has_touch=phone,
            device_scale_factor=2 if phone else 1)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.add_init_script(LISTEN)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: (self.errors.append(dialog.message), dialog.dismiss()))
        self.page.goto(file.as_uri() + fragment)
        self.page.evaluate("window.memtrace.ready")

    def _heard(self, said) -> None:
        # A driver without a GPU remarks that reading pixels back, as for a printed page, is slow.
        if said.type in ("error", "warning") and "GL Driver Message" not in said.text:
            self.errors.append(said.text)

    def wait_for(self, condition: str) -> None:
        """Until the JavaScript is true. Playwright's own way evaluates text in the page, which the page's policy forbids."""
        end = time.monotonic() + PATIENCE_S
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, f"never came true: {condition}; errors: {self.errors}"
            self.page.wait_for_timeout(20)

    def breaches(self) -> list[str]:
        return self.page.evaluate("window.breaches")

    def check(self) -> None:
        """Nothing went wrong, and nothing but the file was asked for."""
        assert self.errors == []
        assert self.breaches() == []
        # A URL without an address of its own is no request: data: and blob: stay in the page.
        outside = [url for url in self.requests if not re.match(r"(data|blob):", url)]
        assert {url.partition("#")[0] for url in outside} == {self.file.as_uri()}

    def close(self) -> None:
        try:
            self.check()
        finally:
            self.context.close()
