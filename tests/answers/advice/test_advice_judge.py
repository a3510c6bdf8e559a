# SPDX-License-Identifier: Apache-2.0
"""The judge itself, on advice made up for it."""

import advice_judge
from known_remedy import CONF, EXPANDABLE, MIB, OUTSIDE, PINNED, Truth

TRUTH = Truth("data_parallel", "", best=("smaller",), change="smaller", others={"other": "other={amount}"})


class Known:
    def __init__(self, **peaks):
        self.peaks = peaks

    def of(self, truth, change):
        if change not in self.peaks:
            return None
        peak, failed = self.peaks[change]
        return {"peak_reserved_bytes": peak * MIB, "pinned_bytes": peak * MIB, "driver_allocations": peak,
                "out_of_memory": failed}


def entry(name, saves, group=None, **more):
    return {"id": name, "saves_bytes": saves * MIB, "proof": "replayed", "group": group, "amount": "", "free": False, **more}


def judge(entries, truth=TRUTH, **peaks):
    return advice_judge.judge({"advice": entries}, truth, Known(**{"": (1000, None)} | peaks))


def test_right():
    found = judge([entry("smaller", 400)], smaller=(610, None))
    assert found.place == 1 and found.good and found.best.real == 390 * MIB


def test_a_saving_that_is_too_high_is_wrong():
    found = judge([entry("smaller", 400)], smaller=(630, None))
    assert found.place_right and not found.saving_right and not found.good


def test_an_estimate_may_be_further_off():
    assert judge([entry("smaller", 400) | {"proof": "estimated"}], smaller=(650, None)).good
    assert not judge([entry("smaller", 400) | {"proof": "estimated"}], smaller=(700, None)).good


def test_a_range_holds_what_is_inside_of_it():
    assert judge([entry("smaller", 100, saves_bytes_most=400 * MIB)], smaller=(750, None)).good
    assert not judge([entry("smaller", 100, saves_bytes_most=400 * MIB)], smaller=(500, None)).good


def test_places_are_those_of_groups():
    sizes = [entry("half", 500, "batch"), entry("quarter", 450, "batch"), entry("smaller", 400)]
    assert judge(sizes, smaller=(600, None)).place == 2
    assert not judge([entry("x", 500), entry("y", 450), *sizes[2:]], smaller=(600, None)).place_right


def test_what_is_not_advised_is_wrong():
    found = judge([entry("other", 10)], smaller=(600, None))
    assert found.place is None and not found.place_right and not found.saving_right


def test_advice_that_saves_nothing():
    found = judge([entry("smaller", 400), entry("other", 50, amount="3")], smaller=(600, None),
                  **{"other=3": (1000, None)})
    assert found.good is False and len(found.nothing) == 1


def test_settings_of_the_allocator_are_changes():
    said = entry("expandable_segments", 100, amount="expandable_segments:True")
    assert TRUTH.change_of(said) == EXPANDABLE
    assert TRUTH.change_of(entry("another", 1, amount="a:1,b:2")) == f"{CONF}a:1,b:2"
    assert TRUTH.change_of(entry("another", 1, amount="1/2")) is None


def test_some_changes_are_made_to_any_program():
    any_one = Truth("checkpointing", "")
    assert any_one.change_of(entry("checkpointing", 1, amount="Block")) == f"{OUTSIDE}checkpointing=Block"
    assert any_one.change_of(entry("add_empty_cache", 1, amount="each step")) == f"{OUTSIDE}add_empty_cache"
    assert any_one.change_of(entry("add_empty_cache", 1, amount="after setup")) is None


def test_out_of_memory_is_mended_or_not():
    fails = Truth("made_up", "", best=("smaller",), change="smaller", mends=True)
    known = {"": (1000, "out"), "smaller": (900, None), "other": (900, "out")}
    said = entry("smaller", 0, mends_out_of_memory=True)
    assert judge([said], fails, **known).good
    assert not judge([said | {"mends_out_of_memory": False}], fails, **known).good
    other = Truth("made_up", "", best=("smaller",), change="smaller", others={"other": "other"})
    promises = entry("other", 0, mends_out_of_memory=True)
    assert judge([promises], other, **known).nothing
    # It gets past the request that failed, and a later one fails: that is enough, but of the best.
    assert not judge([promises], other, **known | {"other": (900, "out, later")}).nothing
    assert not judge([said], fails, **known | {"smaller": (900, "out, later")}).good


def test_a_place_is_one_among_what_is_free_or_among_the_rest():
    free = [entry("setting", 900, free=True), entry("del", 800, free=True)]
    assert judge([*free, entry("other", 700), entry("smaller", 600)], smaller=(400, None)).place_right
    costly = [entry("other", 700), entry("another", 650), entry("smaller", 600)]
    assert not judge([*free, *costly], smaller=(400, None)).place_right


def test_host_memory_is_judged_by_what_is_pinned():
    pinned = Truth("made_up", "", best=("pinned_memory",), change="off", saves=PINNED, place=None)
    said = entry("pinned_memory", 0, saves_host_bytes=900 * MIB)
    assert judge([said], pinned, off=(100, None)).good
    assert not judge([said], pinned, off=(500, None)).good
