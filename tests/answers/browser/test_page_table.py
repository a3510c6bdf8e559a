# SPDX-License-Identifier: Apache-2.0
"""The table of who held a moment: it adds up, and is sorted, filtered and copied as the page's own columns have it."""

import csv
import io

import pytest

import browsing
import page_contents
import page_views

SMALL_PHONE = (360, 740)
KINDS = {"category": "category", "module": "module", "name": "name"}
CELLS = """section => [...section.querySelectorAll('tbody tr, tfoot tr')].map(row => ({
    name: row.querySelector('th')?.innerText ?? '', isFoot: row.parentElement.tagName === 'TFOOT',
    bytes: Number(row.querySelector('td.bytes')?.dataset.value), blocks: Number(row.querySelector('td.blocks')?.dataset.value),
    change: Number(row.querySelector('td.change')?.dataset.value ?? 0)}))"""


@pytest.fixture
def table(browser, files):
    """table(name): the page and its table, as somebody sees it who may use the clipboard."""
    known = []

    def give(name: str, **how):
        page = browsing.Opened(browser, files.page(name), **how)
        known.append(page)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        return page, page_views.visit(page, "holders")

    yield give
    for page in known:
        page.close()


def rows_of(section) -> list[dict]:
    return [one for one in section.evaluate(CELLS) if not one["isFoot"]]


def choose(page, section, kind: str) -> None:
    section.get_by_role("combobox").select_option(kind)
    page_views.settle(page)


def held(file, history: int, kind: str) -> dict[str, tuple[int, int]]:
    """Bytes and blocks of the peak by the value of a column of blocks."""
    def values(what):
        return page_contents.column(file, f"{history}/{what}")

    allocated = values("timeline/allocated")
    event = values("timeline/event")[allocated.index(max(allocated))]
    made = {}
    for key, born, died, size in zip(values(f"blocks/{KINDS[kind]}"), values("blocks/born_event"),
                                     values("blocks/died_event"), values("blocks/bytes")):
        if born <= event < died:
            before = made.get(key, (0, 0))
            made[key] = (before[0] + size, before[1] + 1)
    return made


@pytest.mark.parametrize("name", ["small", "out_of_memory", "leak"])
def test_its_rows_are_the_blocks_of_the_moment(table, files, name):
    page, section = table(name)
    file = files.page(name)
    history = page_views.shown_history(page)
    for kind in KINDS:
        if section.get_by_role("combobox").locator(f"option[value={kind}]").count() == 0:
            assert kind in ("name", "module")
            continue
        choose(page, section, kind)
        wanted = sorted(held(file, history, kind).values())
        rows = [one for one in section.evaluate(CELLS)]
        listed = sorted((one["bytes"], one["blocks"]) for one in rows if not one["isFoot"])
        if len(wanted) <= 200:
            assert listed == wanted, kind
        *others, whole = rows
        assert sum(one["bytes"] for one in others) == whole["bytes"], kind
        assert whole["bytes"] == max(page_contents.column(file, f"{history}/timeline/allocated"))


def test_a_click_or_a_key_on_a_head_sorts(table):
    page, section = table("small")
    choose(page, section, "category")

    def sorted_by(name: str) -> tuple[str, list]:
        page_views.settle(page)
        head = section.get_by_role("columnheader", name=name)
        rows = rows_of(section)
        return head.get_attribute("aria-sort"), [one[name.lower()] if name != "Category" else one["name"] for one in rows]

    def is_descending(values: list) -> bool:
        return values == sorted(values, reverse=True)

    how, values = sorted_by("Bytes")
    assert how == "descending" and is_descending(values) and len(values) > 2
    section.get_by_role("button", name="Bytes").click()
    how, values = sorted_by("Bytes")
    assert how == "ascending" and values == sorted(values)
    blocks = section.get_by_role("button", name="Blocks")
    blocks.focus()
    page.page.keyboard.press("Enter")
    how, values = sorted_by("Blocks")
    assert how == "descending" and is_descending(values)
    page.page.keyboard.press("Space")
    assert sorted_by("Blocks")[0] == "ascending"
    assert sorted_by("Bytes")[0] == "none"
    section.get_by_role("button", name="Category").click()
    how, values = sorted_by("Category")
    assert how == "ascending" and values == sorted(values)


def test_a_filter_leaves_what_matches_and_still_adds_up(table):
    page, section = table("small")
    choose(page, section, "category")
    whole = section.evaluate(CELLS)[-1]["bytes"]
    section.get_by_role("searchbox").fill("weights")
    page_views.settle(page)
    assert [one["name"].strip() for one in rows_of(section)] == ["weights"]
    *others, last = section.evaluate(CELLS)
    assert last["bytes"] == whole == sum(one["bytes"] for one in others)
    section.get_by_role("searchbox").fill("no such thing")
    page_views.settle(page)
    assert section.get_by_role("status").inner_text() == "No row matches."
    assert "No row matches." in section.locator("tbody").inner_text()
    assert section.get_by_role("button", name="Copy").is_disabled()


def test_what_is_copied_is_what_the_page_has(table, files):
    page, section = table("small")
    file, history = files.page("small"), page_views.shown_history(page)
    choose(page, section, "category")
    section.get_by_role("button", name="Copy").click()
    page.wait_for("document.querySelector('#holders [role=status]').innerText.startsWith('Copied')")
    copied = list(csv.DictReader(io.StringIO(page.page.evaluate("navigator.clipboard.readText()"))))
    names = page_contents.facts(file)["categories"]
    wanted = {names[round(key)]: value for key, value in held(file, history, "category").items()}
    assert {one["category"]: (int(one["bytes"]), int(one["blocks"])) for one in copied} == wanted
    assert [int(one["bytes"]) for one in copied] == [one["bytes"] for one in rows_of(section)]


def test_a_moment_to_compare_with_gives_a_column_of_changes(table, files):
    events = page_contents.column(files.page("small"), "0/timeline/event")
    allocated = page_contents.column(files.page("small"), "0/timeline/allocated")
    low = len(events) // 4
    peak = allocated.index(max(allocated))
    page, section = table("small", fragment=f"#event={round(events[low])}&from={round(events[peak])}")
    *others, whole = section.evaluate(CELLS)
    assert whole["change"] == allocated[low] - allocated[peak] < 0
    assert sum(one["change"] for one in others) == whole["change"]
    text = page_views.visit(page, "icicle").inner_text()
    assert "less was in use" in text and "What shrank: −" in text and "-" not in text.partition("What shrank")[2]


def test_it_fits_a_small_phone(table):
    for fragment in ("", "#from=1"):
        page, section = table("out_of_memory", size=SMALL_PHONE, phone=True, fragment=fragment)
        for kind in section.get_by_role("combobox").locator("option").evaluate_all("all => all.map(one => one.value)"):
            choose(page, section, kind)
            assert page.page.evaluate("document.documentElement.scrollWidth") <= SMALL_PHONE[0], kind
