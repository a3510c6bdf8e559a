# SPDX-License-Identifier: Apache-2.0
"""The Python package: no-ops without memtrace, and what it records."""

import json
import os
import re
import subprocess
import sys

import pytest

import records
import runs

sys.path.insert(0, str(records.ROOT / "python"))
import memtrace  # noqa: E402

pytestmark = pytest.mark.usefixtures("built")


def test_without_memtrace_nothing_happens():
    assert not memtrace.is_active()

    @memtrace.phase("decorated")
    def twice(number):
        return 2 * number

    with memtrace.phase("phase") as entered:
        assert isinstance(entered, memtrace.phase)
        assert twice(21) == 42
    with pytest.raises(KeyError, match="passes through"), memtrace.phase("phase"):
        raise KeyError("passes through")
    memtrace.step()
    memtrace.step("name")
    memtrace.annotate(1234, "weights")
    memtrace.counter("loss", 1)
    memtrace.expect_growth([], "why")
    memtrace.expect_growth("self.outputs", "why")
    memtrace.census()


@pytest.mark.parametrize("call", [
    lambda: memtrace.phase(3),
    lambda: memtrace.phase(None),
    lambda: memtrace.step(3),
    lambda: memtrace.annotate("text", "weights"),
    lambda: memtrace.annotate(None, "weights"),
    lambda: memtrace.annotate(1234, None),
    lambda: memtrace.annotate(1234, "weights", 3),
    lambda: memtrace.counter(3, 1.0),
    lambda: memtrace.counter("loss", "much"),
    lambda: memtrace.counter("loss", None),
    lambda: memtrace.expect_growth([], None),
    lambda: memtrace.expect_growth("self.outputs", 3),
])
def test_wrong_types_are_refused(call):
    with pytest.raises(TypeError):
        call()


def test_torch_is_not_imported():
    subprocess.run(
        [sys.executable, "-c", "import sys, memtrace; assert 'torch' not in sys.modules"], check=True,
        env=runs.environment({**records.PACKAGE, "LD_PRELOAD": str(runs.library())}),
    )


def test_what_a_program_tells(tmp_path):
    outcome = records.python("phases", tmp_path)
    told = records.only_trace(outcome)
    assert records.said(outcome, "active") == ["True"]
    assert records.phases(told) == [
        *records.nested("before the GPU", "inner"), *records.nested("decorated ü"),
        *records.nested("meanwhile", "another thread"), *records.nested("raises"),
    ]
    kept, block = map(int, records.said(outcome, "annotated")[0].split())
    # A view stands for its storage; tensors that are not on a GPU are left out.
    assert [(record["address"], record["detail"], record["name"])
            for record in records.storages(told, "user")] == [
        (kept, "a cache", "keys"), (block, "weights", ""),
    ]
    assert [record["name"] for record in told if record["kind"] == "step"] == ["", "named"]
    assert records.counters(told) == [
        ("loss", 0.25), ("loss", 1),
    ]


def test_the_allocation_is_inside_its_phases(tmp_path):
    told = records.only_trace(records.python("phases", tmp_path))
    first = next(place for place, record in enumerate(told) if record["kind"] == "alloc")
    assert records.phases(told[:first]) == [("begin", "before the GPU"), ("begin", "inner")]


def test_a_program_prints_the_same(tmp_path):
    bare = records.python("phases", None).expect(0)
    traced = records.python("phases", tmp_path).expect(0)
    assert bare.stdout.replace(b"active False", b"active True") == traced.stdout


@pytest.mark.slow
def test_compiled_regions(tmp_path):
    """Inside of them there is nothing to hear, no graph breaks, and fullgraph works."""
    bare = records.python("compiled", None).expect(0)
    outcome = records.python("compiled", tmp_path)
    told = records.only_trace(outcome)
    assert outcome.stdout == bare.stdout
    assert "outputs" not in {record["detail"] for record in records.storages(told, "user")}
    found = records.phases(told)
    assert found[:2] == records.nested("around")
    # A function that is not compiled as a whole has its phase, inside of the outer one.
    assert found[2:] == records.nested("outer", "with a break")


def test_cuda_array_interface(monkeypatch):
    class Array:
        @property
        def __cuda_array_interface__(self):
            return {"data": (4096, False), "shape": (1,), "typestr": "<f4", "version": 3}

    class Gone(Array):
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("freed")

    calls = []

    class Library:
        def memtrace_annotate(self, *arguments):
            calls.append(arguments)

    monkeypatch.setattr(memtrace, "_library", Library())
    memtrace.annotate(Array(), "inputs", "batch")
    memtrace.annotate(Gone(), "inputs")
    assert calls == [(4096, b"inputs", b"batch"), (0, b"inputs", None)]


@pytest.fixture(scope="module")
def expecting(built, tmp_path_factory):
    """The output, and by process id what its trace has of expectations."""
    outcome = records.python("expecting", tmp_path_factory.mktemp("expecting")).expect(0)
    told = [[row for row in runs.dump(trace, stacks=False) if row["kind"] == "expectation"] for trace in outcome.traces]
    assert len(told) == 2
    return outcome, told


def test_what_is_expected_to_grow_by_any_name(expecting):
    outcome, (told, _) = expecting
    program = outcome.ran(records.PROGRAMS / "expecting.py")
    lines = program.read_text().splitlines()
    OBJECT, TENSOR, NAMELESS = 1, 2, 4
    rows = {row["why"]: row for row in told}
    for why, row in rows.items():
        assert row["said_in"] == str(program)
        if why not in ("odd", "an argument", "gone at once", "a variable that is deleted"):
            assert why in lines[row["said_at"] - 1]
    assert {why: (row["what"], row["owner"], row["holder"], row["flags"]) for why, row in rows.items()
            if not row["flags"] & NAMELESS and why not in ("odd", "gone at once", "a variable that is deleted")} == {
        "a global": ("outputs", "global of __main__", "", OBJECT),
        "in a dictionary": ("cache['rows']", "global of __main__", "", OBJECT),
        "a deque": ("window", "global of __main__", "", OBJECT),
        "a pattern ü": ("Trainer.outputs", "", "", 0),
        "from its own __init__": ("self.history", "local of __init__", "Program", OBJECT),
        "a local": ("local", "local of go", "", OBJECT),
        "a cell": ("captured", "local of go", "", OBJECT),
        "a slot": ("program.slots.kept", "global of __main__", "Slots", OBJECT),
        "a module": ("program.model", "global of __main__", "Program", OBJECT),
        "a buffer": ("program.model.queue", "global of __main__", "Model", OBJECT),
        "an attribute of a module": ("program.model.masks", "global of __main__", "Model", OBJECT),
        "again and again": ("program.history", "global of __main__", "Program", OBJECT),
        "another one each time": ("program.last", "global of __main__", "Program", OBJECT),
        "the recording began": ("said after", "", "", 0),
    }
    assert rows["an argument"]["what"] == "list" and rows["an argument"]["flags"] & NAMELESS
    assert lines[rows["a local"]["line"] - 1] == "    def go(self):"
    # Said 10,000 times, or of 200 objects of one name: told once.
    assert [row["why"] for row in told].count("again and again") == 1
    assert [row["why"] for row in told].count("another one each time") == 1
    # The odd ones: each is there by some name, or by its class, and the longest is cut.
    odd = [row["what"] for row in told if row["why"] == "odd"]
    assert {"self.odd", "x y", "x" * 1000} < set(odd) and "" not in odd
    assert not TENSOR & rows["a buffer"]["flags"]  # nothing knew yet what a tensor is


def test_a_forked_child_tells_what_was_said_before(expecting):
    _, (first, second) = expecting
    def short(rows):
        return [(row["what"], row["why"]) for row in rows]
    assert short(first) == short(second) and len(first) > 20


def test_a_program_cannot_tell_that_something_is_expected(expecting):
    outcome, _ = expecting
    assert [records.said(outcome, word) for word in ("counts", "gone", "released", "errno", "child")] == [
        ["True"], ["True"], ["True"], ["True"], ["0"]]
    assert b"Error" not in outcome.stderr


@pytest.mark.parametrize("settings", [{"MEMTRACE_CENSUS": "0"}, {"MEMTRACE_AGENT": "0"}, {"MEMTRACE": "minimal"}])
def test_without_censuses_objects_have_no_names(tmp_path, settings):
    told = records.python("expecting", tmp_path, env=settings).expect(0).traces
    rows = [row for row in runs.dump(told[0], stacks=False) if row["kind"] == "expectation"]
    assert {row["flags"] for row in rows} == {0, 1 | 4}
    assert {"what": "Trainer.outputs", "why": "a pattern ü"}.items() <= next(
        row for row in rows if row["flags"] == 0).items()


def test_disabled(tmp_path):
    outcome = records.python("phases", tmp_path, env={"MEMTRACE_DISABLE": "1"}).expect(0)
    assert records.said(outcome, "active") == ["False"]
    assert outcome.traces == []
    assert os.listdir(tmp_path) == []


def test_the_report_believes_the_program(tmp_path):
    program = (
        "import memtrace, torch\n"
        "moments = torch.zeros(1 << 20, device='cuda')\n"
        "memtrace.annotate(moments, 'optimizer_states', 'moments')\n"
        "pages = torch.zeros(1 << 21, device='cuda')\n"
        "memtrace.annotate(pages, 'key-value pages')\n"
        "memtrace.step()\n"
        "memtrace.step()\n"
    )
    outcome = runs.run([runs.python(), "-c", program], tmp_path, env=records.PACKAGE).expect(0)
    report = runs.report(outcome.traces, tmp_path)
    found = {row["category"]: (row["bytes"], row["evidence"])
             for row in report["devices"][0]["at_peak"]["categories"] if row["bytes"]}
    assert found == {"optimizer_states": (4 << 20, "annotated"), "other": (8 << 20, "annotated")}
    assert (report["steps"]["count"], report["steps"]["boundary"]) == (2, "user")


def test_memory_by_the_names_that_the_program_gave(tmp_path):
    outcome = records.python("requests", tmp_path).expect(0)
    truth = json.loads(outcome.stdout)
    report = runs.report(outcome.traces, tmp_path)
    rows = report["devices"][0]["at_peak"]["names"]
    assert {row["name"]: [row["blocks"], row["bytes"]] for row in rows} == truth
    assert [row["bytes"] for row in rows] == sorted((row["bytes"] for row in rows), reverse=True)
    assert {row["name"]: row["category"] for row in rows} == {
        "request 7": "kv_cache", "request 8 <b>": "kv_cache", "lookup": "weights"}
    said = subprocess.run([str(runs.memtrace()), "report", *map(str, outcome.traces), "--by", "name"],
                          check=True, capture_output=True, text=True).stdout
    assert re.search(r"% +request 8 <b> .* in 3 blocks\n", said), said
