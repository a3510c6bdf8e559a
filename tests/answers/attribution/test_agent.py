# SPDX-License-Identifier: Apache-2.0
"""The agent's words on parameters, buffers and optimizer states, beside PyTorch's."""

import json
from pathlib import Path

import pytest

import recordings
import runs

SCENES = Path(__file__).parent / "agent" / "scenes.py"
KNOWN_ROLES = ("parameter", "buffer", "optimizer_state")
OPTIMIZER = 32  # scope flag


class Scene:
    def __init__(self, name: str, folder: Path, **how):
        command = [runs.python(), SCENES, name, folder / "facts.json"]
        self.outcome = recordings.run(command, folder, **how).expect(0)
        self.facts = json.loads((folder / "facts.json").read_text())
        (trace,) = runs.traces_in(folder)
        self.records = runs.dump(trace, stacks=False)
        self.info = {r["key"]: r["value"] for r in self.records if r["kind"] == "info"}

    def said(self) -> dict[str, list[str]]:
        """The last words on each address, while the present block lived there."""
        said = {}
        for record in self.records:
            if record["kind"] == "storage" and record["role"] in KNOWN_ROLES:
                said[str(record["address"])] = [record["role"], record["name"], record["detail"]]
            elif record["kind"] == "alloc":
                said.pop(str(record["address"]), None)
        return said

    def phases(self) -> list[tuple[str, str]]:
        return [(r["action"], r["name"]) for r in self.records
                if r["kind"] == "phase" and r["source"] == "optimizer_step"]


@pytest.fixture
def scene(built, tmp_path):
    def play(name: str, **how) -> Scene:
        return Scene(name, tmp_path, **how)

    return play


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", [
    "adamw", "fused", "lbfgs", "half_in_the_middle", "loaded_states", "gan", "tied", "flattened",
    "without_modules", "compiled", "in_a_thread", "exception_in_step", "lifetimes",
    "group_added", "parameter_replaced", "data_replaced", "data_moved", "tensors_swapped",
    "states_replaced", "states_data_replaced", "states_offloaded", "states_of_later_parameters",
    "states_in_lists", "optimizer_swapped", "sharded",
])
def test_tensors_are_what_pytorch_says(scene, name):
    seen = scene(name)
    assert seen.info["agent"] == "on"
    assert [r for r in seen.records if r["kind"] == "message"] == []
    said = seen.said()
    expected = seen.facts["tensors"]
    assert len(expected) > 0 or name == "lifetimes"
    wrong = {address: [said.get(address), what] for address, what in expected.items()
             if said.get(address) != what}
    assert wrong == {}


def test_a_step_is_a_phase_and_counts_once(scene):
    seen = scene("adamw")
    assert seen.phases() == [("begin", "AdamW"), ("end", "AdamW")] * 3
    steps = [r for r in seen.records if r["kind"] == "step"]
    assert [(r["source"], r["name"]) for r in steps] == [("optimizer", "AdamW")] * 3


def test_modules_are_named(scene):
    seen = scene("adamw")
    named = {(r["path"], r["type"]) for r in seen.records if r["kind"] == "module"}
    assert named == {("", "Net"), ("layers", "ModuleList"), ("layers.0", "Linear"),
                     ("layers.1", "Linear"), ("layers.2", "Linear"), ("norm", "BatchNorm1d")}


def gradients_at_steps(records: list[dict]) -> list[dict[str, str]]:
    """At each step's end the blocks that were said to be gradients, by the agent or by autograd,
    with the parameter's name."""
    names, gradients, at_steps = {}, {}, []
    for record in records:
        if record["kind"] == "storage" and record["role"] == "parameter":
            names[record["address"]] = record["name"]
        elif record["kind"] == "storage" and record["role"] == "gradient":
            gradients[str(record["address"])] = record["name"]
        elif record["kind"] == "storage" and record["role"] == "leaf_gradient":
            gradients[str(record["address"])] = names.get(record["bytes"], "")
        elif record["kind"] == "alloc":
            gradients.pop(str(record["address"]), None)
        elif record["kind"] == "step":
            at_steps.append(dict(gradients))
    return at_steps


def test_gradients_are_named(scene):
    """At each step, and in full: four layers with two parameters."""
    seen = scene("adamw")
    parameters = {what[1] for what in seen.facts["tensors"].values() if what[0] == "parameter"}
    assert len(parameters) == 8
    steps = gradients_at_steps(seen.records)
    assert len(steps) == 3
    assert [parameters <= set(step.values()) for step in steps] == [True] * 3


def test_gradients_that_the_program_sets_are_named(scene):
    seen = scene("gradients_replaced")
    known = seen.facts["gradients at steps"]
    assert [len(step) for step in known] == [8] * 3
    for said, step in zip(gradients_at_steps(seen.records)[-3:], known, strict=True):
        assert {address: said.get(address) for address in step} == step


def test_gradients_of_wrappers_are_named(scene):
    seen = scene("sharded")
    known = seen.facts["gradients"]
    said = gradients_at_steps(seen.records)[-1]
    assert {address: said.get(address) for address in known} == known


def test_a_step_that_changes_nothing_says_nothing(scene):
    """But what autograd says of its gradients."""
    seen = scene("in_a_thread")
    ends = [i for i, r in enumerate(seen.records) if r["kind"] == "step"]
    assert len(ends) > 100  # of 1501: the agent comes some 200 ms after the first event
    roles = [{r["role"] for r in seen.records[begin:end] if r["kind"] == "storage"} - {
        "leaf", "leaf_gradient", "workspace"} for begin, end in zip(ends, ends[1:])]
    # A module is looked at again at its 2nd, 4th, 8th, … call.
    assert sum(bool(said) for said in roles) < 40


def test_a_step_ends_with_its_exception(scene):
    seen = scene("exception_in_step")
    assert seen.phases() == [("begin", "AdamW"), ("end", "AdamW"), ("begin", "Failing"),
                             ("end", "Failing")] * 2 + [("begin", "AdamW"), ("end", "AdamW")]
    flags = {size: [r["scope"] & OPTIMIZER for r in seen.records
                    if r["kind"] == "alloc" and r["size"] == size] for size in (4444, 8888)}
    assert flags == {4444: [OPTIMIZER] * 2, 8888: [0, 0]}


def test_nothing_lives_longer(scene, tmp_path):
    seen = scene("lifetimes")
    bare = tmp_path / "bare.json"
    recordings.run([runs.python(), SCENES, "lifetimes", bare], None).expect(0)
    said = [key for key in seen.facts if key.startswith("after")]
    assert len(said) == 3
    expected = json.loads(bare.read_text())
    assert {key: seen.facts[key] for key in said} == {key: expected[key] for key in said}
    assert all(seen.facts["after a collection"])


def test_it_can_be_switched_off(scene):
    seen = scene("adamw", env={"MEMTRACE_AGENT": "0"})
    assert seen.info["agent"] == "MEMTRACE_AGENT=0"
    assert seen.said() == {}
    assert seen.phases() == []
