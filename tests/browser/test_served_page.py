# SPDX-License-Identifier: Apache-2.0
"""The page of a training that goes on, as memtrace live serves it: it says that there is more, and shows it when asked."""

import subprocess
import sys

import pytest

import browsing
import runs

sys.path.insert(0, str(runs.ROOT / "tests/live"))
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


def test_a_served_page_shows_what_is_new_when_asked_and_stays_when_the_server_is_gone(browser, address):
    url, serving = address
    context = browser.new_context(viewport={"width": browsing.WIDE[0], "height": browsing.WIDE[1]})
    page = context.new_page()
    page.set_default_timeout(90_000)
    page.add_init_script(browsing.LISTEN)
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url + "#view=timeline")
    page.evaluate("window.memtrace.ready")
    events = "Number(document.querySelector('[data-key=events]').dataset.value)"
    before = page.evaluate(events)
    page.get_by_text("More was recorded since.").wait_for()
    with page.expect_navigation():
        page.get_by_role("button", name="Show it").click()
    page.evaluate("window.memtrace.ready")
    after = page.evaluate(events)
    assert after > before
    assert "view=timeline" in page.url
    with page.expect_navigation():
        page.get_by_label("always show the latest").check()
    page.evaluate("window.memtrace.ready")
    assert page.get_by_label("always show the latest").is_checked()
    page.get_by_label("always show the latest").uncheck()
    serving.kill()
    page.get_by_text("memtrace live has ended").wait_for()
    assert page.evaluate(events) >= after
    assert page.evaluate("window.breaches") == []
    assert errors == []
    assert all(one.startswith(url) for one in asked)
    context.close()


def test_a_page_in_a_file_asks_nobody(opened):
    assert opened("small").page.get_by_text("always show the latest").count() == 0
