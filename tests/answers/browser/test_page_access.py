# SPDX-License-Identifier: Apache-2.0
"""Who can read a page: by keyboard, with a screen reader, on a phone, in the dark, on paper."""

import re
from pathlib import Path

import axe_playwright_python
import pytest

import browsing
import page_files
import page_views

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
PAGES = [*page_files.PAGES, "difference"]
LOOKED_AT = ["out_of_memory", "leak", "in_pieces", "ranks", "difference"]  # between them all views
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page) -> list[str]:
    page.page.evaluate(AXE)
    found = page.page.evaluate("tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", RULES)
    return [f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
            for one in found["violations"]]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_axe_finds_nothing(opened, name, theme):
    page = opened(name, theme=theme)
    page_views.visit_all(page)
    assert violations(page) == []


def test_axe_would_find_something(browser, files):
    page = browsing.Opened(browser, files.page("in_pieces"))
    page.page.evaluate("""() => {
        const poor = document.createElement('button');
        document.querySelector('main').append(poor, Object.assign(document.createElement('p'), {className: 'faint', textContent: 'x'}));
        document.querySelector('.faint').style.color = getComputedStyle(document.body).backgroundColor;
    }""")
    assert {one.partition(":")[0] for one in violations(page)} >= {"button-name"}
    page.close()


def brightness(page) -> float:
    colour = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    red, green, blue = map(int, re.findall(r"\d+", colour)[:3])
    return (red + green + blue) / 765


def test_both_themes(opened):
    light, dark = opened("small"), opened("small", theme="dark")
    assert brightness(light) > 0.8
    assert brightness(dark) < 0.2
    dark.page.emulate_media(color_scheme="light")
    page_views.settle(dark)
    assert brightness(dark) > 0.8
    dark.page.emulate_media(color_scheme="dark")


def test_the_reader_may_choose_the_other_theme(browser, files):
    page = browsing.Opened(browser, files.page("small"))
    button = page.page.get_by_role("button", name=re.compile("theme|dark|light|colours", re.I)).first
    seen = set()
    for _ in range(3):
        seen.add(brightness(page) > 0.5)
        button.click()
        page_views.settle(page)
    assert seen == {True, False}
    page.close()


@pytest.mark.one_in(5)
@pytest.mark.parametrize("size", [browsing.PHONE, (768, 1024), browsing.WIDE, (3840, 2160)], ids=str)
@pytest.mark.parametrize("name", ["hostile", "ranks", "out_of_memory", "difference"])
def test_nothing_is_wider_than_the_screen(opened, name, size):
    page = opened(name, phone=True) if size == browsing.PHONE else opened(name)
    page.page.set_viewport_size({"width": size[0], "height": size[1]})
    page_views.visit_all(page)
    wide = page.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= size[0]
    # Text that is cut off at the page's edge could not be reached at all.
    lost = page.page.evaluate("""() => [...document.querySelectorAll('main [data-key], main h2, main button, main input')]
        .filter(one => one.checkVisibility({visibilityProperty: true}) && one.getBoundingClientRect().right > innerWidth + 1
                       && !one.closest('[tabindex], pre, .scrolls, table'))
        .map(one => one.outerHTML.slice(0, 120))""")
    assert lost == []
    page.page.set_viewport_size({"width": browsing.WIDE[0], "height": browsing.WIDE[1]})


FOCUSABLE = """() => [...document.querySelectorAll('a[href], button, input, select, summary, textarea, [tabindex]')]
    .filter(one => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({visibilityProperty: true})).length"""
FOCUSED = """() => {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const all = window.numbers ??= new Map();
    if (!all.has(one)) all.set(one, all.size);
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    return {number: all.get(one), what: one.outerHTML.slice(0, 150),
            marked: style.outlineStyle !== 'none' || style.boxShadow !== 'none' || one.tagName === 'IFRAME',
            seen: box.bottom > 0 && box.top < innerHeight && box.width > 0};
}"""


@pytest.mark.parametrize("name", ["leak", "ranks"])
def test_the_tab_key_reaches_everything_and_shows_where_it_is(browser, files, name):
    page = browsing.Opened(browser, files.page(name))
    page_views.visit_all(page)
    page.page.evaluate("() => { window.scrollTo(0, 0); document.activeElement?.blur(); }")
    wanted = page.page.evaluate(FOCUSABLE)
    assert wanted > 10
    reached = {}
    for _ in range(wanted + 20):
        page.page.keyboard.press("Tab")
        at = page.page.evaluate(FOCUSED)
        if at is None:
            break
        reached[at["number"]] = at
    # In a group of radio buttons, and in a map that moves its own tabindex, one is reached.
    assert len(reached) >= wanted - 3
    assert [one["what"] for one in reached.values() if not one["marked"] or not one["seen"]] == []
    page.close()


def test_arrow_keys_move_the_moment(browser, files):
    page = browsing.Opened(browser, files.page("small"))
    slider = page_views.visit(page, "timeline").get_by_role("slider")
    slider.focus()

    def moment() -> int:
        page_views.settle(page)
        return int(slider.get_attribute("aria-valuenow"))

    page.page.keyboard.press("Home")
    assert moment() == 0
    for _ in range(3):
        page.page.keyboard.press("ArrowRight")
    assert moment() == 3
    page.page.keyboard.press("ArrowLeft")
    assert moment() == 2
    page.page.keyboard.press("End")
    assert moment() == int(slider.get_attribute("aria-valuemax")) > 10
    page.close()


def test_paper_shows_all_views_and_no_controls(browser, files, tmp_path):
    page = browsing.Opened(browser, files.page("out_of_memory"), theme="dark")
    page.page.emulate_media(media="print")
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page_views.settle(page)
    assert brightness(page) > 0.8 or page.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
    shown = page.page.evaluate("""() => [...document.querySelectorAll('button:not(.icicle button), input, select, nav')]
        .filter(one => one.checkVisibility({visibilityProperty: true})).map(one => one.outerHTML.slice(0, 100))""")
    assert shown == []
    for name in page_views.names(page):
        assert page.page.locator(f"section#{name}").is_visible()
    printed = page.page.pdf(format="A4")
    assert printed.startswith(b"%PDF") and len(printed) > 20_000
    page.close()


PAINTED = """canvas => {
    const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height}).getContext('2d');
    copy.drawImage(canvas, 0, 0);
    const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
    let painted = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 128) ++painted;
    return painted / (data.length / 4);
}"""


def test_paper_has_pictures_that_nobody_scrolled_to(browser, files):
    """Those on a canvas are drawn in the moment before it is printed, and in colours for white paper."""
    page = browsing.Opened(browser, files.page("small"), theme="dark", size=(900, 400))
    assert page.page.locator("#timeline canvas").count() == 0
    page.page.evaluate("() => { window.dispatchEvent(new Event('beforeprint')); }")
    for name in ("timeline", "blocks"):
        assert page.page.locator(f"#{name} canvas").first.evaluate(PAINTED) > 0.02, name
    stroke = page.page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--text').trim()")
    assert stroke == "#17202a"
    page.page.evaluate("() => { window.dispatchEvent(new Event('afterprint')); }")
    assert page.page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.close()
