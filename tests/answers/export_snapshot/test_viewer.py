# SPDX-License-Identifier: Apache-2.0
"""PyTorch's memory_viz itself, in a browser, on the exported file and on PyTorch's own of the same run: the same shapes,
coloured by category."""

import re

import pytest

import made
import snapshots
import viewer

COLOURS = ["#4e79a7", "#f28e2c", "#e15759", "#76b7b2", "#59a14f", "#edc949", "#af7aa1", "#ff9da7", "#9c755f", "#bab0ab"]
CASES = [pytest.param(case, marks=() if case == "side_streams, expandable" else pytest.mark.slow) for case in made.CASES]


@pytest.fixture(scope="module", params=CASES)
def one(request, built, tmp_path_factory):
    viewer.folder()
    return made.run(request.param, tmp_path_factory.mktemp("run"))


def seen_in(file, devices: list[int]) -> dict:
    """The drawing of every view and device; the page must not complain of anything."""
    found = {}
    with viewer.opened(file) as page:
        for device in devices:
            for name in (viewer.TIMELINE, viewer.POOLS, viewer.SEGMENTS):
                page.view(name, str(device))
                found[name, device] = page.polygons()
                found["legend"] = page.legend()
            page.view(viewer.HISTORY, str(device))
            _, *found["events", device] = page.events()
            while found["events", device][-1] == "snapshot":  # that of the taking of this snapshot
                found["events", device].pop()
            last = len(found["events", device]) - 1
            found["moments", device] = [page.press(number).splitlines()[0] for number in (0, last // 2, last)]
        page.view(viewer.SETTINGS)
        found["settings"] = page.events()
        assert page.errors == [] and page.missed == []
    return found


def test_the_viewer_shows_it_as_it_shows_pytorchs_own(one):
    devices = [index for index, events in enumerate(one.truth["device_traces"]) if events]
    theirs, ours = seen_in(one.truth_file, devices), seen_in(one.file, devices)
    for device in devices:
        for name in (viewer.TIMELINE, viewer.POOLS, viewer.SEGMENTS):
            assert len(ours[name, device]) > 1
            assert [shape["points"] for shape in ours[name, device]] == [shape["points"] for shape in theirs[name, device]]
        assert ours["events", device] == theirs["events", device] and len(ours["events", device]) > 50
        assert ours["moments", device] == theirs["moments", device]
    assert ours["settings"] == theirs["settings"]


def test_its_colours_are_the_categories(one):
    device = max(range(len(one.exported["device_traces"])), key=lambda index: len(one.exported["device_traces"][index]))
    in_order = list(dict.fromkeys(event["category"] for events in one.exported["device_traces"] for event in events
                                  if "category" in event))
    seen = seen_in(one.file, [device])
    assert seen["legend"] == in_order and in_order[0] == "unknown" and len(in_order) > 2
    drawn = 0
    for shape in seen[viewer.TIMELINE, device]:
        found = re.search(r"^User Metadata:\n  category: (\w+);", shape["text"], re.M)
        if found:
            drawn += 1
            assert shape["fill"] == COLOURS[in_order.index(found[1]) % len(COLOURS)]
    assert drawn == sum(event["action"] == "alloc" for event in one.exported["device_traces"][device])
    assert {shape["fill"] for shape in seen[viewer.TIMELINE, device]} >= {COLOURS[0], COLOURS[1], COLOURS[2]}


def test_a_part_of_it_opens(one, tmp_path):
    part = made.export(one.trace, tmp_path / "part.pickle", "--top", "60")
    device = max(range(len(part["device_traces"])), key=lambda index: len(part["device_traces"][index]))
    seen = seen_in(tmp_path / "part.pickle", [device])
    assert len(seen[viewer.TIMELINE, device]) > 20
    reserved = sum(one["total_size"] for one in part["segments"] if one["device"] == device)
    assert f"({reserved} bytes) reserved" in seen["moments", device][2]
    assert snapshots.undo(part, device)[1] == {}
