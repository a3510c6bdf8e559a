# SPDX-License-Identifier: Apache-2.0
"""dry-run --routing and --masks: values that decide sizes, and what is said where there are none."""
import ast
from pathlib import Path

import pytest

import recordings
import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"
EXPERTS = PROGRAMS / "experts.py"
WAYS = ("lists", "sorted", "capacity")
EXPERTS_OF = 8


def record(folder, command, cold=False, **settings):
    return recordings.run([runs.python(), *map(str, command)], folder, cold=cold,
                          env={f"MEMTRACE_SIM_{name}".upper(): value for name, value in settings.items()})


def lines(outcome):
    return {name: [int(word) for word in rest.split()]
            for name, _, rest in (line.partition(" ") for line in outcome.stdout.decode().splitlines())}


def headline(outcome):
    trace, = outcome.traces
    return runs.report_text([trace]).split("\ncuda:0")[0].replace("\n", " ")


@pytest.mark.parametrize("way", WAYS)
def test_a_balanced_choice_takes_what_one_by_hand_takes(built, tmp_path, way):
    chosen = record(tmp_path / "chosen", [EXPERTS, way], routing="balanced").expect(0)
    by_hand = record(tmp_path / "by_hand", [EXPERTS, way, "--by-hand"]).expect(0)
    assert len(set(lines(by_hand)["sizes"])) == 1
    assert lines(chosen)["sizes"] == lines(by_hand)["sizes"]
    assert lines(chosen)["peak"] == lines(by_hand)["peak"]
    assert "at least" not in headline(chosen)
    assert b"gave zeros" not in chosen.stderr


@pytest.mark.parametrize("way", ("lists", "capacity"))
def test_without_a_choice_the_first_line_says_so_and_where(built, tmp_path, way):
    outcome = record(tmp_path, [EXPERTS, way]).expect(0)
    assert set(lines(outcome)["sizes"]) == {0}
    line = next(number for number, text in enumerate(EXPERTS.read_text().splitlines(), 1)
                if ("torch.where(chosen" if way == "lists" else "self.run(number, x[mine])") in text)
    said = headline(outcome)
    assert said.startswith("FITS SO FAR · at least ")
    assert f"what experts.py:{line} " in said
    unknown = runs.report(outcome.traces, tmp_path)["processes"][0]["completeness"]["unknown_sizes"]
    assert all(one["place"].startswith("experts.py:") for one in unknown)
    assert {one["operation"] for one in unknown} <= ({"nonzero"} if way == "lists" else {"index", "nonzero"})


def test_what_is_not_chosen_is_said_with_options_too(built, tmp_path):
    outcome = record(tmp_path, [PROGRAMS / "conditions.py"], routing="balanced").expect(0)
    unknown = runs.report(outcome.traces, tmp_path)["processes"][0]["completeness"]["unknown_sizes"]
    assert {one["operation"] for one in unknown} == {"index", "masked_select", "nonzero"}
    assert len({one["place"] for one in unknown}) == 3


def test_each_kind_of_routing(built, tmp_path):
    def sizes(routing):
        return lines(record(tmp_path / routing.replace("/", "_"), [EXPERTS, "sorted"], routing=routing).expect(0))["sizes"]

    assert sizes("worst") == [4096, 4096, 0, 0, 0, 0, 0, 0]
    uneven = sizes("zipf:1")
    assert sum(uneven) == 2 * 4096 and uneven[0] > 2 * uneven[-1]
    assert uneven == sorted(uneven, reverse=True)
    file = tmp_path / "shares.txt"
    file.write_text("8\n8\n4\n4\n0\n0\n0\n0\n")
    outcome = runs.run([runs.python(), str(EXPERTS), "sorted"], tmp_path / "file", env={"MEMTRACE_SIM_ROUTING": str(file)})
    given = lines(outcome.expect(0))["sizes"]
    assert given[4:] == [0, 0, 0, 0] and sum(given) == 2 * 4096
    assert given[0] > given[2] and given[1] > given[3]


def test_whole_numbers_are_computed_as_on_the_cpu(built, tmp_path):
    outcome = record(tmp_path, [PROGRAMS / "whole_numbers.py"], routing="balanced").expect(0)
    last = outcome.stdout.decode().splitlines()[-1]
    assert last.startswith("compared ") and last.endswith(" differ 0"), outcome.stdout.decode()
    assert int(last.split()[1]) > 60


@pytest.mark.parametrize("share, rows", ((None, 0), ("0.25", 4096), ("1", 16384)))
def test_a_condition_holds_for_its_share(built, tmp_path, share, rows):
    outcome = record(tmp_path, [PROGRAMS / "conditions.py"], **({} if share is None else {"masks": share})).expect(0)
    assert lines(outcome) == {"index": [rows], "select": [16 * rows], "nonzero": [rows], "count": [rows]}


def test_argument_checks_let_unknown_values_pass_and_refuse_known_ones(built, tmp_path):
    said = record(tmp_path, [PROGRAMS / "argument_checks.py"], routing="balanced").expect(0).stdout.decode()
    assert said.splitlines() == ["normal 16 32", "categorical 16", "normal 20000 32", "categorical 20000", "refused"]


def test_without_choices_no_argument_is_checked(built, tmp_path):
    said = record(tmp_path, [PROGRAMS / "argument_checks.py"]).expect(0).stdout.decode()
    assert said.splitlines() == ["normal 16 32", "categorical 16", "normal 20000 32", "categorical 20000"]


def test_programs_of_other_kinds_run_as_ever(built, tmp_path):
    """Tensors and operators that are not followed: sparse ones, functions as operators, a default device."""
    said = record(tmp_path, [PROGRAMS / "other_kinds.py"], routing="balanced").expect(0).stdout.decode()
    assert said.splitlines() == ["sparse", "cond", "flex", "device", "compiled", "stream", "copied 7", "resized"]


def test_a_program_that_chooses_nothing_is_recorded_the_same(built, tmp_path):
    from test_fast_init import SETTLED, events
    program = [runs.python(), Path(runs.__file__).parents[1] / "programs" / "transformer_adamw.py", "--steps", "3"]
    # As long as the other, so that no address moves.
    other, chosen = (recordings.run(program, tmp_path / name, env={**SETTLED, name: "balanced"}, cold=True).expect(0)
                     for name in ("MEMTRACE_TST_ROUTING", "MEMTRACE_SIM_ROUTING"))
    assert sum(event["kind"] == "alloc" for event in events(other)) > 300
    assert events(chosen) == events(other)


@pytest.mark.parametrize("option, value, said", (
    ("--routing", "even", "balanced, worst, zipf:S"), ("--routing", "zipf:0", "zipf:S with S above 0"),
    ("--masks", "2", "not in range 0"), ("--bare", "--routing=worst", "leave out --bare"),
    ("--mode=minimal", "--masks=1", "leave out --mode minimal")))
def test_what_is_no_choice_is_refused(built, option, value, said):
    refused = runs.memtrace_says("dry-run", option, value, "--", "true")
    assert refused.returncode == 2 and said in refused.stderr and refused.stderr.count("\n") == 1


def test_no_file_of_the_agent_takes_a_name_of_another():
    """They run one after the other in the same globals."""
    names = [node.name if hasattr(node, "name") else target.id
             for file in (runs.ROOT / "interpose/sight/agent").glob("*.py")
             for node in ast.parse(file.read_text()).body
             for target in getattr(node, "targets", [None])
             if hasattr(node, "name") or isinstance(target, ast.Name)]
    assert len(names) > 80
    assert [name for name in set(names) if names.count(name) > 1] == []


def test_the_operators_are_those_that_pytorch_tags(built, tmp_path):
    """analyzer/trace/code/unknown_sizes.cpp has their names."""
    outcome = recordings.run([runs.python(), "-c", """
import torch
for name in torch._C._dispatch_get_all_op_names():
    base, _, overload = name.partition(".")
    if base.startswith("aten::"):
        operator = getattr(getattr(torch.ops.aten, base[6:]), overload or "default", None)
        if operator is not None and torch.Tag.dynamic_output_shape in operator.tags:
            print(base[6:])
"""], tmp_path).expect(0)
    text = (Path(runs.__file__).parents[2] / "analyzer/trace/code/unknown_sizes.cpp").read_text()
    known = {word.strip(' "\n') for word in text.split("sized_by_values{")[1].split("}")[0].split(",")}
    # What these read is no size of what they make, or is read from the host.
    assert set(outcome.stdout.decode().split()) - known == {"_ctc_loss", "linalg_lstsq", "one_hot"}
    assert known <= set(outcome.stdout.decode().split())
