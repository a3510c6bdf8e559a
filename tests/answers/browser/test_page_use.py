# SPDX-License-Identifier: Apache-2.0
"""A reader at a page: clicks into the timeline, looks for a block, follows a leak, compares ranks and runs."""

import re

import pytest

import browsing
import page_contents
import page_files
import page_views


@pytest.fixture
def fresh(browser, files):
    """fresh(name): a page of its own, which must end without complaints."""
    known = []

    def give(name: str, **how) -> browsing.Opened:
        known.append(browsing.Opened(browser, files.page(name), **how))
        return known[-1]

    yield give
    for page in known:
        page.close()


def click_at(page, place, share: float) -> None:
    box = place.bounding_box()
    page.page.mouse.click(box["x"] + box["width"] * share, box["y"] + box["height"] * 0.6)
    page_views.settle(page)


def test_a_click_into_the_timeline_moves_the_moment_of_all_views(fresh):
    page = fresh("small")
    timeline = page_views.visit(page, "timeline")
    before = {name: text for name, text in page_views.visit_all(page).items()}
    page_views.visit(page, "timeline")
    click_at(page, timeline.locator(".plot canvas, .plot .u-over").first, 0.25)
    early = page.page.evaluate("window.memtrace.moment()")
    assert early is not None
    after = page_views.visit_all(page)
    changed = {name for name in after if after[name] != before[name]}
    assert {"timeline", "icicle"} <= changed
    page_views.visit(page, "timeline")
    click_at(page, timeline.locator(".plot canvas, .plot .u-over").first, 0.9)
    assert page.page.evaluate("window.memtrace.moment()") > early


def test_a_link_leads_to_the_same_moment(fresh, files):
    events = page_contents.column(files.page("small"), "0/timeline/event")
    event = round(events[len(events) // 2])
    page = fresh("small", fragment=f"#event={event}")
    assert page.page.evaluate("window.memtrace.moment()") == event


def test_a_page_that_is_ready_knows_its_moment(browser, files):
    """In that same turn, before a frame is drawn: the other tests ask for it at once."""
    page = browser.new_page()
    page.add_init_script("""document.addEventListener("DOMContentLoaded",
        () => { window.at_once = window.memtrace.ready.then(() => typeof window.memtrace.moment); });""")
    page.goto(files.page("small").as_uri())
    assert page.evaluate("window.at_once") == "function"
    page.close()


@pytest.mark.parametrize("fragment", ["#event=99999999999", "#event=-1&device=7", "#<script>", "#colour=__proto__", "#event=1e999"])
def test_a_wrong_link_does_nothing(fresh, fragment):
    page = fresh("small", fragment=fragment)
    assert page_views.visit(page, "first").locator("[data-key=peak_allocated]").count() == 1


def test_blocks_are_found_by_their_line(fresh, files):
    page = fresh("small")
    blocks = page_views.visit(page, "blocks")
    search = blocks.get_by_role("searchbox")
    search.fill("transformer_adamw.py")
    found = blocks.get_by_role("status")

    def number() -> int:
        page_views.settle(page)
        return int(re.match(r"([\d,]+) blocks", found.inner_text())[1].replace(",", ""))

    some = number()
    kept = page_contents.facts(files.page("small"))["histories"][0]["blocks"]["kept"]
    assert 0 < some <= kept
    assert strongest(blocks) == 255
    search.fill("no such line anywhere")
    assert number() == 0
    assert "match" in found.inner_text()
    assert 0 < strongest(blocks) < 40  # all of it is faded, also where many blocks share a pixel


def strongest(blocks) -> int:
    """The highest alpha of the picture of blocks."""
    return blocks.locator("canvas").first.evaluate("""canvas => {
        const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height}).getContext('2d');
        copy.drawImage(canvas, 0, 0);
        return copy.getImageData(0, 0, canvas.width, canvas.height).data.reduce((most, one, i) => i % 4 === 3 ? Math.max(most, one) : most, 0);
    }""")


def test_pointing_at_a_block_says_what_it_is(fresh):
    page = fresh("out_of_memory")
    blocks = page_views.visit(page, "blocks")
    canvas = blocks.locator("canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    texts = set()
    for across in range(1, 10):
        for down in range(1, 10):
            page.page.mouse.move(box["x"] + box["width"] * across / 10, box["y"] + box["height"] * down / 10)
            page_views.settle(page)
            texts.add(blocks.inner_text())
        if any("out_of_memory.py:" in text for text in texts):
            break
    told = next(text for text in texts if "out_of_memory.py:" in text)
    assert re.search(r"\d (MiB|KiB|GiB)", told)
    tip = blocks.locator(".tip").bounding_box()
    pointer = box["x"] + box["width"] * across / 10, box["y"] + box["height"] * down / 10
    beyond = (max(tip["x"] - pointer[0], pointer[0] - tip["x"] - tip["width"], 0),
              max(tip["y"] - pointer[1], pointer[1] - tip["y"] - tip["height"], 0))
    assert max(beyond) < 30


def test_an_icicle_has_the_wrappers_of_pytorch_when_they_are_wanted(fresh):
    page = fresh("small")
    icicle = page_views.visit(page, "icicle")

    def titles() -> list[str]:
        page_views.settle(page)
        return icicle.locator(".box").evaluate_all("boxes => boxes.map(one => one.title)")

    assert not any("_call_impl" in one for one in titles())
    icicle.get_by_role("checkbox").check()
    assert any("_call_impl" in one for one in titles())


def test_a_word_says_what_it_means(fresh):
    page = fresh("small")
    ask = page_views.visit(page, "first").get_by_role("button", name='What "reserved" means')
    said = "Bytes of all segments"
    assert said in ask.evaluate("one => document.getElementById(one.getAttribute('aria-describedby')).textContent")
    assert page.page.get_by_text(said).locator("visible=true").count() == 0
    ask.focus()
    page_views.settle(page)
    assert page.page.locator(".tip").get_by_text(said).is_visible()
    page.page.keyboard.press("Escape")
    page_views.settle(page)
    assert page.page.locator(".tip").count() == 0


def test_frames_are_measured(fresh):
    page = fresh("small")
    page_views.visit(page, "blocks")
    times = page.page.evaluate("window.memtrace.frames(5)")
    assert len(times) == 5 and all(time >= 0 for time in times)


def test_a_leak_has_its_line_its_keeper_and_its_remedy(opened, files):
    told = files.json("leak")
    culprit = told["verdicts"][0]["culprits"][0]
    text = page_views.visit_all(opened("leak"))["growth"]
    where = culprit["frames"][0] if culprit["frames"][0]["user"] else next(one for one in culprit["frames"] if one["user"])
    assert f"leak_validation_outputs.py:{where['line']}" in text
    assert culprit["retained_by"][0]["path"].split("[")[0] in text.replace("\n", "")
    assert re.sub(r"\s+", " ", culprit["fix"]["change"])[:40] in re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("name", ["small", "out_of_memory", "leak", "in_pieces", "ranks"])
def test_it_begins_with_the_line_that_every_face_has(opened, files, name):
    views = page_views.visit_all(opened(name))
    assert files.json(name)["headline"]["text"].replace("`", "") in views["first"]  # they mark code, which looks like it
    headline = opened(name).page.locator("h2 [data-key=headline]")
    assert headline.inner_text() == opened(name).page.get_by_role("heading", level=2).first.inner_text()
    sizes = opened(name).page.evaluate("""() => [...document.querySelectorAll('main *')]
        .map(one => [parseFloat(getComputedStyle(one).fontSize), one.closest('h2') === document.querySelector('h2')])""")
    assert max(size for size, is_headline in sizes if is_headline) > 1.2 * max(size for size, is_headline in sizes if not is_headline)


def test_growth_that_is_expected_is_no_alarm_and_says_why(opened, files):
    said = files.json("expected")["verdicts"][0]["expected"]
    views = page_views.visit_all(opened("expected"))
    assert f"Expected: plotted at the end (said at expects.py:{said['line']})" in views["growth"]
    assert "as expected" in views["growth"]
    assert "FITS · " in views["first"] and "expected: plotted at the end" in views["first"]
    assert opened("expected").page.locator("article.leak").count() == 0
    assert opened("leak").page.locator("article.leak").count() > 0


def test_fragmentation_says_what_the_blocked_request_needed(opened):
    text = page_views.visit_all(opened("in_pieces"))["fragmentation"]
    assert "300 MiB" in text  # asked for by in_pieces.py
    assert "14 MiB" in text  # its largest free piece
    assert "in_pieces.py:10" in text


def test_ranks_stand_side_by_side_and_each_can_be_chosen(fresh, files):
    page = fresh("ranks")
    told = files.json("ranks")
    peaks = {one["rank"]: one["peak_allocated_bytes"] for one in told["devices"]}
    assert len(peaks) == len(page_files.RANKS)
    assert peaks[2] > peaks[0]
    facts = page_contents.facts(files.page("ranks"))
    assert facts["histories"][page_views.shown_history(page)]["rank"] == 2  # the odd one comes first
    text = page_views.visit_all(page)["ranks"]
    for difference in told["rank_differences"]:
        assert difference["sentence"][:30] in text
    page.page.get_by_label(re.compile("Device", re.I)).select_option(index=1)
    page_views.settle(page)
    first = facts["histories"][1]
    device, = (one for one in told["devices"] if one["pid"] == first["pid"])
    shown = page_views.visit(page, "first").locator("[data-key=peak_allocated]")
    assert int(shown.get_attribute("data-bytes")) == device["peak_allocated_bytes"] == peaks[first["rank"]]


def test_the_page_of_a_difference_says_both_sides(opened, files):
    text = "\n".join(page_views.visit_all(opened("difference")).values())
    told = files.json("difference")
    assert page_contents.facts(files.page("difference"))["diff"] == told
    for side in page_files.DIFFERENCE:
        peak = files.json(side)["devices"][0]["peak_allocated_bytes"]
        unit = 1 << 30 if peak >= 1 << 30 else 1 << 20
        assert f"{round(peak / unit, 2):g}" in text


def test_what_accumulates_on_one_side_alone_is_not_called_the_same(opened, files):
    """A line of the second run that the first one does not have: none before, and the verdicts are two."""
    pair, = files.json("difference")["devices"]
    alone = [one for one in pair["growing"] if one["before_bytes_per_step"] == 0 < one["after_bytes_per_step"]]
    assert alone and pair["growing"] == alone
    text = "\n".join(page_views.visit_all(opened("difference")).values())
    assert text.count(": none before, ") == len(alone) and "the same after" not in text
    for side in page_files.DIFFERENCE:
        assert files.json(side)["headline"]["text"] in text


def test_a_link_leads_to_the_same_view(fresh):
    page = fresh("out_of_memory", fragment="#view=fragmentation")  # below it is more than a screen
    page_views.settle(page)
    header = page.page.locator("header").bounding_box()
    assert header["y"] == 0  # it stays in sight, and hides nothing
    assert abs(page.page.locator("#fragmentation").bounding_box()["y"] - header["height"]) < 2
    assert page.page.evaluate("document.activeElement.id") == "fragmentation-title"


def test_the_wheel_scrolls_past_a_picture_and_zooms_where_the_pointer_was_moved(fresh):
    page = fresh("small")
    blocks = page_views.visit(page, "blocks")
    canvas, axis = blocks.locator("canvas").first, blocks.locator(".axis")
    before, box = axis.inner_text(), canvas.bounding_box()
    page.page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.page.evaluate("scrollBy(0, -30)")
    page_views.settle(page)
    at = page.page.evaluate("scrollY")
    page.page.mouse.wheel(0, -50)
    page.wait_for(f"scrollY < {at}")
    assert axis.inner_text() == before
    page_views.settle(page)
    page.page.mouse.move(box["x"] + 210, box["y"] + 150)
    page.page.mouse.wheel(0, -50)
    page_views.settle(page)
    assert axis.inner_text() != before


def test_names_of_a_difference_are_as_they_are(opened):
    text = "\n".join(page_views.visit_all(opened("difference")).values())
    assert "out_of_memory.py:" in text and "out of memory.py" not in text
