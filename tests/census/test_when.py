# SPDX-License-Identifier: Apache-2.0
"""When a census is taken: the reasons that are in the trace of each of a number of small programs.

What they find is no matter of these tests."""

from collections import Counter
from pathlib import Path

import pytest

import runs

pytestmark = pytest.mark.usefixtures("built")

PROGRAM = Path(__file__).resolve().parent / "programs" / "moments.py"
REASONS = {1: "high_water", 2: "step", 3: "out_of_memory", 4: "exit", 5: "signal", 6: "program",
           7: "interval"}
STATUS = {"steps": 0, "marked_steps": 0, "two_optimizers": 0, "accumulation": 0, "evaluation": 0,
          "server": 0, "functions": 0, "rising": 0, "out_of_memory": 1, "asks": 0,
          "asks_where_little_is_left": 0, "asks_without_the_gil": 0, "signalled": 0, "raises": 1, "leaves_at_once": 3,
          "thread_beside_a_blocked_one": 0}


def run_all(output: Path, names, **how) -> dict[str, list[dict]]:
    """The records of each program's trace; none where it left none."""
    outcome = runs.run([runs.python(), PROGRAM, *names], output, **how).expect(0)
    traces = {trace.name.split(".")[-2]: trace for trace in outcome.traces}
    found = {}
    for line in outcome.stdout.decode().splitlines():
        name, process, status = line.split()
        found[name] = [{"status": int(status)}]
        if process in traces:
            found[name] += runs.dump(traces[process], stacks=False)
    return found


@pytest.fixture(scope="module")
def ran(built, tmp_path_factory):
    return run_all(tmp_path_factory.mktemp("moments"), STATUS)


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


def test_programs_end_as_they_would(ran):
    assert {name: records[0]["status"] for name, records in ran.items()} == STATUS


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


def test_memory_that_runs_out(ran):
    """Also where the program catches the error. Before it goes on."""
    kinds = [record["kind"] for record in ran["out_of_memory"][1:]
             if record["kind"] == "oom"
             or (record["kind"] == "census" and record["action"] == "begin" and record["reason"] == 3)]
    assert kinds == ["oom", "census"] * 2


def test_program_asks(ran):
    assert reasons(ran["asks"])["program"] == 3
    assert reasons(ran["asks_without_the_gil"])["program"] == 1
    assert reasons(ran["asks_where_little_is_left"])["program"] == 1


def test_signal(ran):
    assert reasons(ran["signalled"])["signal"] == 1


def test_exit(ran):
    for name, records in ran.items():
        taken = [census["reason"] for census in censuses(records)]
        if name == "leaves_at_once":
            assert "exit" not in taken
        else:
            assert taken.count("exit") == 1, name
            assert taken[-1] == "exit", name


@pytest.mark.slow
def test_share_of_a_long_run(tmp_path):
    """The schedule's own tests count in made-up time; here it is that which the records say."""
    records = run_all(tmp_path, ["long_run"])["long_run"]
    spent = sum(census["nanoseconds"] for census in censuses(records) if census["reason"] == "step")
    times = [record["t_ns"] for record in records if "t_ns" in record]
    after = [count for count, _ in steps_before(records, "step")]
    assert after[-1] > 1500
    # What is free, and 2 % of the time; a census among others on a busy machine takes longer
    # than the CPU time that it is charged for, at most some four times on two processors.
    assert spent < 4 * (0.5e9 + 0.02 * (times[-1] - times[0]))


def test_switched_off(tmp_path):
    found = run_all(tmp_path, ["steps", "asks", "out_of_memory", "signalled"],
                    env={"MEMTRACE_CENSUS": "0"})
    assert all(not censuses(records) for records in found.values())
    assert found["signalled"][0]["status"] == -12  # as without memtrace
    agent = [record["value"] for record in found["steps"][1:]
             if record["kind"] == "info" and record["key"] == "agent"]
    assert agent == ["on"]


def test_signal_left_alone(tmp_path):
    found = run_all(tmp_path, ["steps", "signalled"], env={"MEMTRACE_CENSUS_SIGNAL": "0"})
    assert found["signalled"][0]["status"] == -12
    assert reasons(found["steps"])["step"] >= 3
