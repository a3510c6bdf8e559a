# SPDX-License-Identifier: Apache-2.0
"""The page of a training that goes on, as memtrace live serves it: it says that there is more, and shows it when asked."""

import subprocess
import sys

import pytest

import browsing
import runs

sys.path.insert(0, str(runs.ROOT / "tests/answers/live"))
import live_runs  # noqa: E402


@pytest.fixture(scope="module")
def address(built, tmp_path_factory):
    with live_runs.training(tmp_path_factory.mktemp("served") / "out", 100_000, 0.02) as one:
        for _ in range(3):
            one.next_step()
        serving = subprocess.Popen([runs.memtrace(), "live", "--html", "--serve", one.output], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=runs.environment())
        try:
            yield serving.stdout.readline().strip(), serving
        finally:
            serving.kill()
            serving.wait()


EVENTS = "Number(document.querySelector('[data-key=events]').dataset.value)"
MORE = "More was recorded since."


class Tab:
    def __init__(self, context, url: str):
        self.page = context.new_page()
        self.page.set_default_timeout(90_000)
        self.page.add_init_script(browsing.LISTEN)
        self.asked, self.errors = [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(url)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        self.page.evaluate("window.memtrace.ready")

    def events(self) -> int:
        return self.page.evaluate(EVENTS)


def test_a_served_page_shows_what_is_new_when_asked_and_stays_when_the_server_is_gone(browser, address):
    """In two tabs, as the server makes a page seldom where the machine is busy: a twentieth of the time."""
    url, serving = address
    context = browser.new_context(viewport={"width": browsing.WIDE[0], "height": browsing.WIDE[1]})
    asks, follows = Tab(context, url + "#view=timeline"), Tab(context, url + "#view=timeline")
    before = asks.events()
    for tab in (asks, follows):
        tab.page.get_by_text(MORE).wait_for()
    with asks.page.expect_navigation():
        asks.page.get_by_role("button", name="Show it").click()
    always = follows.page.get_by_label("always show the latest")
    with follows.page.expect_navigation():
        always.check()
    follows.wait_until_ready()
    assert always.is_checked()
    always.uncheck()
    asks.wait_until_ready()
    assert not asks.page.get_by_label("always show the latest").is_checked()
    after = asks.events(), follows.events()
    assert min(after) > before
    assert all("view=timeline" in tab.page.url for tab in (asks, follows))
    serving.kill()
    for tab, shown in zip((asks, follows), after):
        tab.page.get_by_text("memtrace live has ended").wait_for()
        assert tab.events() >= shown
        assert tab.page.evaluate("window.breaches") == []
        assert tab.errors == [] and all(one.startswith(url) for one in tab.asked)
    context.close()


def test_a_page_in_a_file_asks_nobody(opened):
    assert opened("small").page.get_by_text("always show the latest").count() == 0
