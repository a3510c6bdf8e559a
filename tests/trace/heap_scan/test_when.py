# SPDX-License-Identifier: Apache-2.0
"""When a census is taken: the reasons that are in the trace of each of a number of small programs.

These tests do not ask for its findings."""

from collections import Counter
from pathlib import Path

import pytest

import recordings
import runs

pytestmark = pytest.mark.usefixtures("built")

PROGRAM = Path(__file__).resolve().parent / "programs" / "moments.py"
REASONS = {1: "high_water", 2: "step", 3: "out_of_memory", 4: "exit", 5: "signal", 6: "program",
           7: "interval"}
STATUS = {"steps": 0, "steady": 0, "late": 0, "marked_steps": 0, "two_optimizers": 0, "accumulation": 0, "evaluation": 0,
          "server": 0, "functions": 0, "rising": 0, "out_of_memory": 1, "asks": 0,
          "asks_where_little_is_left": 0, "asks_without_the_gil": 0, "signalled": -12, "raises": 1,
          "leaves_at_once": 3,
          "thread_beside_a_blocked_one": 0}


def run_all(output: Path, names, **how) -> dict[str, list[dict]]:
    """The records of each program's trace; none where it left none."""
    how["env"] = {"PYTHONPATH": str(runs.ROOT / "python"), **how.get("env", {})}
    found = {}
    for name in names:
        outcome = recordings.run([runs.python(), PROGRAM, name], output / name, **how)
        found[name] = [{"status": outcome.status}]
        for trace in outcome.traces:
            found[name] += runs.dump(trace, stacks=False)
    return found


@pytest.fixture(scope="module")
def ran(built, tmp_path_factory):
    """With the timetable."""
    return run_all(tmp_path_factory.mktemp("moments"), STATUS, env={"MEMTRACE": "full"})


@pytest.fixture(scope="module")
def ran_by_default(built, tmp_path_factory):
    return run_all(tmp_path_factory.mktemp("by_default"), STATUS)


def censuses(records: list[dict]) -> list[dict]:
    """Their ends, each of which must follow its beginning."""
    found, is_open = [], False
    for record in records[1:]:
        if record["kind"] == "census":
            assert (record["action"] == "end") == is_open
            is_open = not is_open
            if record["action"] == "end":
                found.append({**record, "reason": REASONS[record["reason"]]})
    assert not is_open
    return found


def reasons(records: list[dict]) -> Counter:
    return Counter(census["reason"] for census in censuses(records))


def steps_before(records: list[dict], reason: str) -> list[tuple[int, str]]:
    """For each census of that reason: how many steps have ended, and who said so last."""
    number = next(key for key, name in REASONS.items() if name == reason)
    found, count, last = [], 0, None
    for record in records[1:]:
        if record["kind"] == "step":
            count, last = count + 1, (record["source"], record["object"])
        if record["kind"] == "census" and record["action"] == "begin" and record["reason"] == number:
            found.append((count, last))
    return found


def test_programs_end_as_they_would(ran, ran_by_default):
    for found in (ran, ran_by_default):
        assert {name: records[0]["status"] for name, records in found.items()} == STATUS


def test_what_does_not_grow_is_not_looked_at(ran_by_default):
    assert reasons(ran_by_default["steady"]) == {"exit": 1}
    assert reasons(ran_by_default["accumulation"]) == {"exit": 1}


def test_steps_that_leave_more_and_more(ran_by_default):
    after = [count for count, _ in steps_before(ran_by_default["steps"], "step")]
    assert 4 <= len(after) <= 8
    assert 3 <= after[0] <= 8
    assert after[-1] > 20
    assert set(reasons(ran_by_default["steps"])) == {"step", "exit"}


def test_growth_that_begins_late(ran_by_default):
    after = [count for count, _ in steps_before(ran_by_default["late"], "step")]
    assert len(after) >= 3
    assert all(count > 40 for count in after)


@pytest.mark.parametrize("name", ["evaluation", "server", "functions"])
def test_growth_without_steps(ran_by_default, name):
    assert reasons(ran_by_default[name])["interval"] >= 2
    assert reasons(ran_by_default[name])["step"] == 0


def test_peaks_are_no_growth(ran_by_default):
    assert all(reasons(records)["high_water"] == 0 for records in ran_by_default.values())


@pytest.mark.parametrize("mode, after", [("full", [2, 5, 9, 16, 28]), ("standard", [5, 9, 16, 28])])
def test_several_ranks_look_after_the_same_steps(tmp_path, mode, after):
    """Though one of them keeps more than the others, and knows other times."""
    names = ["steps", "evaluation", "server", "rising", "out_of_memory"]
    found = run_all(tmp_path, names, env={"MEMTRACE": mode, "WORLD_SIZE": "2", "RANK": "1"})
    assert [count for count, _ in steps_before(found["steps"], "step")] == after
    for records in found.values():
        assert not set(reasons(records)) & {"interval", "high_water"}
    assert reasons(found["out_of_memory"])["out_of_memory"] == 2


def test_a_world_of_one_rank_is_none(tmp_path):
    found = run_all(tmp_path, ["server"], env={"WORLD_SIZE": "1", "RANK": "0"})
    assert reasons(found["server"])["interval"] >= 2


def test_steps(ran):
    after = [count for count, _ in steps_before(ran["steps"], "step")]
    assert len(after) >= 4
    assert after[0] <= 2
    assert after[-1] > 20
    assert after == sorted(set(after))


def test_marks_of_the_program_go_before_optimizers(ran):
    found = steps_before(ran["marked_steps"], "step")
    sources = [last[0] for _, last in found]
    assert len(found) >= 3
    # The first step of all ends with the optimizer, before anybody knows of marks.
    assert set(sources[1:]) == {"user"}


def test_always_after_the_same_one_of_two_optimizers(ran):
    found = steps_before(ran["two_optimizers"], "step")
    assert len(found) >= 3
    assert len({last for _, last in found}) == 1


def test_gradient_accumulation_is_no_evaluation(ran):
    assert reasons(ran["accumulation"])["step"] >= 3
    assert all(count == 0 for count, _ in steps_before(ran["accumulation"], "interval"))


def test_evaluation_below_the_peak(ran):
    records = ran["evaluation"]
    start = next(i for i, record in enumerate(records) if record.get("name") == "evaluation")
    inside = reasons([{}, *records[start:]])
    assert inside["interval"] >= 3
    assert inside["step"] == 0


@pytest.mark.parametrize("name", ["server", "functions", "thread_beside_a_blocked_one"])
def test_without_steps(ran, name):
    assert reasons(ran[name])["interval"] >= (1 if name.startswith("thread") else 2)
    assert reasons(ran[name])["step"] == 0


def test_new_peaks(ran):
    assert reasons(ran["rising"])["high_water"] >= 1


@pytest.mark.parametrize("mode", ["ran", "ran_by_default"])
def test_memory_that_runs_out(mode, request):
    """Also where the program catches the error. Before it goes on."""
    ran = request.getfixturevalue(mode)
    kinds = [record["kind"] for record in ran["out_of_memory"][1:]
             if record["kind"] == "oom"
             or (record["kind"] == "census" and record["action"] == "begin" and record["reason"] == 3)]
    assert kinds == ["oom", "census"] * 2


@pytest.mark.parametrize("mode", ["ran", "ran_by_default"])
def test_program_asks(mode, request):
    ran = request.getfixturevalue(mode)
    assert reasons(ran["asks"])["program"] == 3
    assert reasons(ran["asks_without_the_gil"])["program"] == 1
    assert reasons(ran["asks_where_little_is_left"])["program"] == 1


def test_signal_that_is_asked_for(tmp_path):
    found = run_all(tmp_path, ["steps", "signalled"], env={"MEMTRACE_CENSUS_SIGNAL": "1"})
    assert found["signalled"][0]["status"] == 0
    assert reasons(found["signalled"])["signal"] == 1
    assert reasons(found["steps"])["step"] >= 3


@pytest.mark.parametrize("mode", ["ran", "ran_by_default"])
def test_exit(mode, request):
    for name, records in request.getfixturevalue(mode).items():
        taken = [census["reason"] for census in censuses(records)]
        if name in ("leaves_at_once", "signalled"):
            assert "exit" not in taken
        else:
            assert taken.count("exit") == 1, name
            assert taken[-1] == "exit", name


@pytest.mark.slow
def test_share_of_a_long_run(tmp_path):
    """The schedule's own tests count in made-up time; here it is that which the records say."""
    records = run_all(tmp_path, ["long_run"], env={"MEMTRACE": "full"})["long_run"]
    spent = sum(census["nanoseconds"] for census in censuses(records) if census["reason"] == "step")
    times = [record["t_ns"] for record in records if "t_ns" in record]
    after = [count for count, _ in steps_before(records, "step")]
    assert after[-1] > 1500
    assert spent < 0.25e9 + 0.02 * (times[-1] - times[0])


def test_switched_off(tmp_path):
    found = run_all(tmp_path, ["steps", "asks", "out_of_memory", "signalled"],
                    env={"MEMTRACE_CENSUS": "0", "MEMTRACE": "full"})
    assert all(not censuses(records) for records in found.values())
    assert found["signalled"][0]["status"] == -12  # as without memtrace
    agent = [record["value"] for record in found["steps"][1:]
             if record["kind"] == "info" and record["key"] == "agent"]
    assert agent == ["on"]
