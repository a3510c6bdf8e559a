# SPDX-License-Identifier: Apache-2.0
"""What a colleague sees who gets a page by mail: how it stands, where memory was when it ran out, what to change."""

import pytest

import browsing
import page_views

LARGEST_SHIFT = 3  # pixels, of what should lie on one line


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_headline_has_the_colour_of_its_state(opened, theme):
    colours = {}
    for name in ("out_of_memory", "leak", "small", "expected"):
        headline = opened(name, theme=theme).page.locator("[data-key=headline]")
        colours[name] = headline.evaluate("one => getComputedStyle(one).color")
    assert colours["out_of_memory"] == colours["leak"] != colours["small"] == colours["expected"]


def box_of(page, css: str) -> dict:
    return page.page.locator(css).first.bounding_box()


@pytest.mark.parametrize("size", [browsing.WIDE, (360, 800)], ids=str)
@pytest.mark.parametrize("name", ["out_of_memory", "in_pieces"])
def test_the_request_overhangs_the_end_of_the_gpu(opened, files, name, size):
    """The bar is the GPU to scale, and what was lacking is drawn beyond its end: never less than a few pixels."""
    oom = files.json(name)["oom"][0]
    page = opened(name)
    page.page.set_viewport_size({"width": size[0], "height": size[1]})
    page_views.settle(page)
    whole, end, beyond, inside = (box_of(page, f".failure {css}") for css in (".whole", ".line", ".beyond", ".inside"))
    assert abs(end["x"] - beyond["x"]) < LARGEST_SHIFT
    assert abs(beyond["x"] + beyond["width"] - whole["x"] - whole["width"]) < LARGEST_SHIFT
    assert abs(inside["x"] + inside["width"] - beyond["x"]) < LARGEST_SHIFT
    assert beyond["width"] >= 3
    lacking = oom["requested_bytes"] - oom["free_bytes"]
    share = lacking / (oom["capacity_bytes"] + lacking)
    if share > 0.05:
        assert abs(beyond["width"] / whole["width"] - share) < 0.02
    page.page.set_viewport_size({"width": browsing.WIDE[0], "height": browsing.WIDE[1]})


@pytest.mark.parametrize("name", ["out_of_memory", "in_pieces"])
def test_it_says_why_the_request_did_not_fit(opened, files, name):
    oom = files.json(name)["oom"][0]
    left = oom["free_bytes"] + oom["reserved_bytes"] - oom["allocated_bytes"]
    said = page_views.visit(opened(name), "first").inner_text()
    assert ("enough, but in pieces" in said) == (left >= oom["requested_bytes"])
    assert ("too little" in said) == (left < oom["requested_bytes"])


def test_no_other_moment_contradicts_the_failure(opened):
    assert opened("out_of_memory").page.locator("#first figure").count() == 1
    assert "at the peak" not in page_views.visit(opened("out_of_memory"), "first").inner_text()
    assert "at the peak" in page_views.visit(opened("small"), "first").inner_text()


def test_figures_that_nobody_knows_are_not_shown(opened, files):
    for name in ("out_of_memory", "small", "leak"):
        tiles = opened(name).page.locator(".tile")
        assert "not known" not in " ".join(tiles.all_inner_texts())
        growth = files.json(name)["verdicts"][0]["bytes_per_step"]
        assert tiles.filter(has_text="Growth a ").count() == (growth is not None)


def test_the_first_change_is_open_and_the_fifth_folded(fresh_changes, files):
    for name in ("out_of_memory", "small"):
        page, changes = fresh_changes(name), len(files.json(name)["advice"])
        seen = page.page.locator("#changes .changes > li").locator("visible=true").count()
        assert seen == (min(changes, 4))
        if changes == 0:
            continue
        first = page.page.locator("#changes .changes > li").first
        assert first.locator(".why").is_visible()
        assert "`" not in first.locator(".written").inner_text()
        if changes > 4:
            page.page.locator("#changes").get_by_text(f"{changes - 4} more").click()
            assert page.page.locator("#changes .changes > li").locator("visible=true").count() == changes


@pytest.fixture
def fresh_changes(browser, files):
    known = []

    def give(name: str) -> browsing.Opened:
        known.append(browsing.Opened(browser, files.page(name)))
        return known[-1]

    yield give
    for page in known:
        page.close()
