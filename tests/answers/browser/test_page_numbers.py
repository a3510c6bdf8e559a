# SPDX-License-Identifier: Apache-2.0
"""A page says what `memtrace report --json` says, number by number, and what it draws adds up to it."""

import json

import pytest

import page_contents
import page_files
import page_numbers
import page_truth
import page_views
import programs
import runs

RUNS = ["small", "out_of_memory", "large", "leak", "in_pieces", "ranks", "hostile"]
SHOWN = """section => [...section.querySelectorAll('[data-key]')].map(element => ({
    key: element.dataset.key, value: element.dataset.bytes ?? element.dataset.value ?? null,
    isSize: 'bytes' in element.dataset, text: element.innerText, title: element.title}))"""
# Sentences that the command wrote, and what stands for "not known".
NO_NUMBERS = {"headline", "verdict"}


def numbers_of(page) -> list[dict]:
    """The numbers of all views, with what they keep folded."""
    found = []
    for name in page_views.names(page):
        section = page_views.visit(page, name)
        page_views.open_all(section)
        found += section.evaluate(SHOWN)
    return [one for one in found if one["key"] not in NO_NUMBERS]


def truth_of(files, name: str, history: int) -> page_truth.Truth:
    """The truth about the device that the page shows."""
    if name == "difference":
        return page_truth.of_difference(files.json(name))
    shown = page_contents.facts(files.page(name))["histories"][history]
    known = page_truth.of_report(files.json(name), shown["device"], shown["pid"])
    return known | page_truth.of_moment(files.page(name), history)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [*RUNS, "difference"])
def test_every_number_is_the_reports(opened, files, name):
    """Also as it is written, and to the byte where one points at it."""
    page = opened(name)
    known = truth_of(files, name, page_views.shown_history(page))
    numbers = numbers_of(page)
    assert len(numbers) >= 10
    assert sorted({one["key"] for one in numbers} - known.keys()) == []
    for one in numbers:
        value = float(one["value"])
        assert value in known[one["key"]], (one, known[one["key"]])
        if one["isSize"]:
            assert page_numbers.tells_size(one["text"], value), one
            assert one["title"] == f"{round(value):,} bytes", one
        else:
            assert round(value) in page_numbers.numbers_in(one["text"]), one


@pytest.mark.parametrize("name", ["small", "out_of_memory", pytest.param("large", marks=pytest.mark.slow)])
def test_what_matters_most_has_its_number(opened, files, name):
    """The peak, what was reserved, each category at the peak or when memory ran out, and what the failed request was."""
    keys = {one["key"] for one in numbers_of(opened(name))}
    told = files.json(name)
    wanted = {"peak_allocated", "peak_reserved", "capacity", "events", "moment"}
    if told["oom"]:
        wanted |= {f"oom:category:{row['category']}" for row in told["oom"][0]["holders"]}
        wanted |= {"oom:requested", "oom:free", "oom:allocated", "oom:unused", "oom:capacity"}
    else:
        wanted |= {f"category:{row['category']}" for row in told["devices"][0]["at_peak"]["categories"]}
    assert wanted - keys == set()


@pytest.mark.parametrize("name", ["small", pytest.param("large", marks=pytest.mark.slow)])
def test_another_moment_has_its_own_numbers(opened, files, name):
    file = files.page(name)
    events = page_contents.column(file, "0/timeline/event")
    page = opened(name)
    section = page_views.visit(page, "timeline")
    for event in (events[len(events) // 3], events[-1]):
        page.page.evaluate("event => window.memtrace.setMoment(event)", event)
        page_views.settle(page)
        assert page.page.evaluate("window.memtrace.moment()") == event
        known = page_truth.of_moment(file, 0, event)
        seen = {one["key"]: float(one["value"]) for one in section.evaluate(SHOWN)}
        for key, value in seen.items():
            assert {value} == known[key], key
        assert sum(value for key, value in seen.items() if key not in ("moment", "moment:reserved")) == seen["moment"]
    page.page.get_by_role("button", name="The peak").first.click()
    page_views.settle(page)
    highest, = page_truth.of_moment(file, 0)["moment"]
    assert int(section.locator("[data-key=moment]").get_attribute("data-bytes")) == highest


@pytest.mark.parametrize("name", RUNS)
def test_the_page_embeds_the_report(files, name):
    """To the letter, but for what differs between two calls of the command."""
    embedded = page_contents.facts(files.page(name))["report"]
    told = files.json(name)
    assert embedded.keys() == told.keys()
    for key in told:
        if key not in ("made_ns", "generated_ns"):
            assert embedded[key] == told[key], key


@pytest.mark.parametrize("name", RUNS)
def test_the_curve_adds_up_to_the_report(files, name):
    page = files.page(name)
    facts = page_contents.facts(page)
    devices = [one for one in facts["report"]["devices"] if one["peak_allocated_bytes"]]
    assert len(facts["histories"]) == len(devices) > 0
    for h, (history, device) in enumerate(zip(facts["histories"], devices)):
        allocated = page_contents.column(page, f"{h}/timeline/allocated")
        parts = [page_contents.column(page, f"{h}/timeline/category/{category}")
                 for category in history["timeline"]["categories"]]
        assert 0 < len(allocated) <= 2000
        assert allocated == [sum(at) for at in zip(*parts)]
        events = page_contents.column(page, f"{h}/timeline/event")
        assert events == sorted(set(events))
        assert max(allocated) == device["peak_allocated_bytes"]
        assert allocated[events.index(device["peak_allocated_event"])] == device["peak_allocated_bytes"]


@pytest.mark.parametrize("name", RUNS)
def test_the_blocks_add_up_to_the_curve(files, name):
    """At each drawn moment: the blocks that are kept and those left out are all that was allocated."""
    page = files.page(name)
    for h, history in enumerate(page_contents.facts(page)["histories"]):
        def values(what):
            return page_contents.column(page, f"{h}/{what}")
        changes = {}
        for born, died, size in zip(values("blocks/born_event"), values("blocks/died_event"), values("blocks/bytes")):
            changes[born] = changes.get(born, 0) + size
            changes[died] = changes.get(died, 0) - size
        moments, kept, at = sorted(changes), 0, 0
        for event, allocated, left_out in zip(
                values("timeline/event"), values("timeline/allocated"), values("timeline/left_out")):
            while at < len(moments) and moments[at] <= event:
                kept += changes[moments[at]]
                at += 1
            assert kept + left_out == allocated, event
        assert history["blocks"]["kept"] == len(values("blocks/bytes")) <= 300_000
        assert history["blocks"]["left_out"] == history["blocks"]["recorded"] - history["blocks"]["kept"]
        assert sum(values("left_out/blocks")) == history["blocks"]["left_out"]


def test_a_thinned_page_says_so(opened, files):
    """Ten million events: what is left out is counted, small enough to mail, and the page says it."""
    file = files.page("large")
    assert file.stat().st_size <= 5_000_000
    history, = page_contents.facts(file)["histories"]
    assert history["events"] >= page_files.LARGE_EVENTS
    left_out = history["blocks"]["left_out"]
    assert left_out > 1_000_000
    said = page_views.visit(opened("large"), "blocks").inner_text()
    assert f"{left_out:,}" in said
    assert f"{history['blocks']['kept']:,}" in said


def test_a_map_of_thousands_of_blocks_is_whole(built, tmp_path):
    """Names are cut in a page, maps of the heap are not."""
    runs.run([runs.python(), programs.path("small_pieces")], tmp_path / "trace").expect(0)
    page, told = tmp_path / "page.html", tmp_path / "told.json"
    page_files.called(runs.memtrace(), "report", tmp_path / "trace", "--html", page, "--json", told)

    def maps(report: dict) -> list[str]:
        return [segment["blocks"] for device in report["fragmentation"] for moment in device["maps"]
                for segment in moment["segments"]]

    wanted = maps(json.loads(told.read_text()))
    assert max(len(one) for one in wanted) > 5000
    assert maps(page_contents.facts(page)["report"]) == wanted


@pytest.mark.parametrize("name", ["out_of_memory", "in_pieces"])
def test_no_more_is_drawn_as_used_than_the_gpu_has(files, name):
    """Where memory ran out: what was reserved and what the driver had outside of it are of two moments."""
    page = files.page(name)
    device, = page_contents.facts(page)["report"]["devices"]
    used = [one for one in page_contents.column(page, "0/timeline/device_used") if one == one]  # not where nothing is known
    if not used:
        pytest.skip("it ended before the driver was asked, as on a busy machine")
    assert device["capacity_bytes"] // 2 < max(used) <= device["capacity_bytes"]
