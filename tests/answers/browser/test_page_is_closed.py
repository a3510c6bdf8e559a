# SPDX-License-Identifier: Apache-2.0
"""A page asks for nothing, lets nothing in, and takes names for text."""

import platform

import pytest

import browsing
import page_contents
import page_files
import page_views
import programs
import recordings

PAGES = [*page_files.PAGES, "difference"]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", PAGES)
def test_its_policy_allows_one_script_and_one_style(files, name):
    policy = page_contents.policy(files.page(name))
    for what in ("script-src", "style-src"):
        only, = policy.pop(what)
        assert only.startswith("'sha256-")
    assert policy == {"default-src": ["'none'"], "img-src": ["data:"], "connect-src": ["'none'"],
                      "base-uri": ["'none'"], "form-action": ["'none'"]}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_asked_for_in_any_view(opened, name):
    page = opened(name)
    seen = page_views.visit_all(page)
    assert len(seen) >= 2
    page.check()


def test_a_breach_would_be_seen(browser, files, tmp_path):
    """The same page with what a mistake would let in: each is refused, and the checks of the others fail on it."""
    broken = tmp_path / "broken.html"
    text = files.page("small").read_text()
    head, end, tail = text.rpartition("</body>")
    assert end
    broken.write_text(head + "<script>window.hostile = 1</script><img src='https://memtrace.invalid/x.png'>" + end + tail)
    page = browsing.Opened(browser, broken)
    try:
        page.page.evaluate("fetch('https://memtrace.invalid/asked').catch(() => 0)")
        page.wait_for("window.breaches.length >= 3")
        kinds = sorted(breach.split()[0] for breach in page.breaches())
        assert kinds == ["connect-src", "img-src", "script-src-elem"]
        assert page.page.evaluate("window.hostile") is None
        assert any("memtrace.invalid" in url for url in page.requests) or page.errors
        with pytest.raises(AssertionError):
            page.check()
    finally:
        page.context.close()


def test_names_are_only_text(opened, files):
    page = opened("hostile")
    shown = page_views.visit_all(page)
    assert page.page.evaluate("window.hostile") is None
    assert page.page.evaluate("({}).hostile") is None
    # Nothing that a name would have made: pictures, frames, handlers, addresses with a script.
    made = page.page.evaluate("""[...document.querySelectorAll('*')].filter(element =>
        ['IMG', 'IFRAME', 'OBJECT', 'EMBED', 'LINK', 'BASE', 'FORM'].includes(element.tagName) ||
        [...element.attributes].some(one => /^on/i.test(one.name) || /^\\s*javascript:/i.test(one.value)))
        .map(element => element.outerHTML.slice(0, 200))""")
    assert made == []
    # They are there, as text; the title names the command, which has one of them.
    assert "</script><script>" in "".join(shown.values())
    assert page_files.ARGUMENT in page.page.title() or "script>" in page.page.title()
    # No control characters that could act on who copies the text, and nobody's window is filled by one name.
    bare = [c for text in shown.values() for c in text if ord(c) < 32 and c not in "\n\t\r"]
    assert bare == []
    assert max(len(line) for text in shown.values() for line in text.splitlines()) < 20_000


def test_a_scrubbed_page_names_nobody(files):
    """As `memtrace scrub` has it: no directories, no command line, no machine; names of files and functions stay."""
    secrets = [str(recordings.root())[1:], "hostile=9"]  # the folder of the program, and its argument
    if len(platform.node()) > 2:  # shorter ones are left in texts: docs/sharing.md
        secrets.append(platform.node())
    plain, scrubbed = (
        page_contents.inside(files.page(name), "memtrace-facts") + str(page_contents.columns(files.page(name)))
        for name in ("hostile", "scrubbed"))
    for secret in secrets:
        assert secret in plain
        assert secret not in scrubbed
    assert page_contents.facts(files.page("scrubbed"))["scrubbed"] is True
    assert page_contents.facts(files.page("hostile"))["scrubbed"] is False


def test_source_is_there_only_where_it_was_asked_for(files, opened):
    program = programs.path("transformer_adamw")
    lines = program.read_text().splitlines()
    assert page_contents.facts(files.page("small"))["sources"] == {}
    assert "nn.functional.cross_entropy(" not in files.page("small").read_text()
    sources = page_contents.facts(files.page("with_source"))["sources"]
    told, = (texts for file, texts in sources.items() if file.endswith("/transformer_adamw.py"))
    assert told
    for number, text in told.items():
        assert text.strip() == lines[int(number) - 1].strip()
    shown = "".join(page_views.visit_all(opened("with_source")).values())
    assert any(len(text.strip()) > 10 and text.strip() in shown for text in told.values())
