# SPDX-License-Identifier: Apache-2.0
"""The trace's account of backward passes, beside what PyTorch itself knows of them."""

import json
from pathlib import Path

import pytest

import recordings
import runs

SCENES = Path(__file__).parent / "autograd" / "scenes.py"

GRAD, INFERENCE, BACKWARD, AUTOCAST, CAST, OPTIMIZER, RECOMPUTE = (1 << bit for bit in range(7))
SAVED_PACKED, SAVED_ATTRIBUTE = 16, 32


class Scene:
    def __init__(self, name: str, folder: Path, **how):
        recordings.run([runs.python(), SCENES, name, folder / "facts.json"], folder, **how).expect(0)
        self.facts = json.loads((folder / "facts.json").read_text())
        assert self.facts, "the scene told nothing"
        (trace,) = runs.traces_in(folder)
        self.records = runs.dump(trace)
        self.objects = {r["object"]: r["address"] for r in self.records if r["kind"] == "object"}
        self.watched = any(len(node) == 4 for known in self.facts for node in known.get("nodes", ()))
        self.info = {r["key"]: r["value"] for r in self.records if r["kind"] == "info"}

    def place_of(self, mark: int) -> int:
        (place,) = [
            i for i, r in enumerate(self.records) if r["kind"] == "alloc" and r["size"] == mark
        ]
        return place

    def between(self, known: dict) -> list[dict]:
        return self.records[self.place_of(known["begin"]) + 1 : self.place_of(known["end"])]

    def allocations(self, known: dict) -> list[dict]:
        return [r for r in self.between(known) if r["kind"] == "alloc"]


@pytest.fixture(scope="module")
def scene(built, tmp_path_factory):
    """Each scene runs once."""
    seen = {}

    def play(name: str) -> Scene:
        if name not in seen:
            seen[name] = Scene(name, tmp_path_factory.mktemp(name))
        return seen[name]

    return play


def flags(record: dict) -> int:
    return record.get("scope", 0)


def frames(stack: list[dict] | None) -> list[tuple]:
    return [(f["file"], f["line"], f["function"]) for f in stack or ()]


def assert_in_order(seen: Scene, allocations: list[dict], nodes: list) -> None:
    """Each allocation has the name, the forward stack and the modules (where the scene watched
    them) of a node, none earlier than the last."""
    known = [
        (name, [tuple(frame) for frame in stack], *modules)
        for name, stack, *modules in nodes if stack is not None
    ]
    at = 0
    for allocation in allocations:
        said = (allocation["node"], frames(allocation.get("forward")))
        if seen.watched:
            said += tuple(seen.objects.get(allocation.get(key), 0) for key in ("module", "root"))
        assert said in known[at:], f"{said[0]} of {said[1][:2]}, after {known[at][0]}"
        at = known.index(said, at)


def leaves_at(records: list[dict], begin: int, end: int) -> list[list[int]]:
    return sorted(
        [r["bytes"], r["address"]] for r in records[begin:end]
        if r["kind"] == "storage" and r["role"] == "leaf_gradient"
    )


def saved_at(records: list[dict], end: int) -> set[int]:
    """Blocks that are alive and were saved during their life."""
    saved = set()
    for record in records[:end]:
        if record["kind"] == "saved":
            saved.add(record["address"])
        elif record["kind"] == "free_requested":
            saved.discard(record["address"])
    return saved


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["transformer", "autocast", "custom", "threads"])
def test_every_allocation_of_backward_knows_its_forward_call(scene, name):
    seen = scene(name)
    assert seen.info["autograd"] == "on"
    for known in seen.facts:
        allocations = seen.allocations(known)
        in_engine = [r for r in allocations if flags(r) & BACKWARD]
        # The gradient of the result itself is made before the engine runs.
        assert len(allocations) - len(in_engine) <= 1
        assert len(in_engine) > 80
        assert not [r for r in in_engine if flags(r) & RECOMPUTE]
        assert_in_order(seen, in_engine, known["nodes"])
        if seen.watched:
            # Three blocks of six modules that make nodes, the model itself, its embedding and head.
            modules = {module for _, _, module, _ in known["nodes"]}
            assert len(modules - {0}) >= 3 * 6 + 3


@pytest.mark.parametrize("name", ["transformer", "autocast", "custom"])
def test_what_autograd_saved_is_known(scene, name):
    seen = scene(name)
    for known in seen.facts:
        assert len(known["saved"]) > 50
        assert saved_at(seen.records, seen.place_of(known["begin"])) == set(known["saved"])


@pytest.mark.parametrize("name", ["transformer", "autocast", "reentrant", "not_reentrant"])
def test_leaves_and_their_gradients_are_known(scene, name):
    seen = scene(name)
    for known in seen.facts:
        begin, end = seen.place_of(known["begin"]), seen.place_of(known["end"])
        said = leaves_at(seen.records, begin, end)
        parameters = {parameter for parameter, _ in known["leaves"]}
        assert len(parameters) > 30
        assert [pair for pair in said if pair[0] in parameters] == sorted(known["leaves"])
        # Reentrant checkpointing makes a leaf of the input of each of the three blocks.
        others = [pair for pair in said if pair[0] not in parameters]
        assert len(others) == (3 if name == "reentrant" else 0)


@pytest.mark.parametrize("name", ["reentrant", "not_reentrant"])
def test_recomputation_is_told_from_the_gradient_of_the_same_module(scene, name):
    seen = scene(name)
    for known in seen.facts:
        in_engine = [r for r in seen.allocations(known) if flags(r) & BACKWARD]
        assert all(r.get("forward") for r in in_engine)
        again = [r for r in in_engine if flags(r) & RECOMPUTE]
        # In a recomputation, and only there, the blocks' own lines run on the engine's thread.
        assert len(again) > 50
        for record in in_engine:
            runs_a_module = any(f["function"] == "forward" and f["file"].endswith("scenes.py")
                                for f in record["stack"])
            assert bool(flags(record) & RECOMPUTE) == runs_a_module
            assert flags(record) & GRAD or not runs_a_module


def test_backward_of_backward_belongs_to_the_first_forward(scene):
    seen = scene("twice")
    first, second = seen.facts
    for known in (first, second):
        in_engine = [r for r in seen.allocations(known) if flags(r) & BACKWARD]
        assert len(in_engine) > 80
        assert all(r.get("forward") for r in in_engine)
    in_engine = [r for r in seen.allocations(first) if flags(r) & BACKWARD]
    assert_in_order(seen, in_engine, first["nodes"])
    known = {name for name, *_ in second["nodes"]}
    assert any("Backward" in name and "BackwardBackward" in name for name in known)
    forwards = {(name, tuple(tuple(f) for f in stack or ())) for name, stack, *_ in second["nodes"]}
    for record in seen.allocations(second):
        if flags(record) & BACKWARD:
            assert (record["node"], tuple(frames(record["forward"]))) in forwards


def test_a_backward_inside_backward_nests(scene):
    seen = scene("nested")
    (known,) = seen.facts
    phases = [r["action"] for r in seen.between(known) if r["kind"] == "phase"]
    assert phases == ["begin", "begin", "end", "end"]
    in_engine = [r for r in seen.allocations(known) if flags(r) & BACKWARD]
    names = [r["node"] for r in in_engine]
    # The inner pass, then the outer one goes on.
    assert names.index("ExpBackward0") < names.index("MulBackward0", names.index("ExpBackward0"))
    lines = {r["node"]: frames(r["forward"])[0][2] for r in in_engine}
    assert lines["ExpBackward0"] == "backward"
    assert lines["MulBackward0"] == "nested"


def test_an_exception_in_backward_leaves_nothing_behind(scene):
    seen = scene("failing")
    failed, fine = seen.facts
    assert [r["action"] for r in seen.between(failed) if r["kind"] == "phase"] == ["begin", "end"]
    after = seen.records[seen.place_of(failed["end"]) : seen.place_of(fine["begin"])]
    engine = {r["thread"] for r in seen.allocations(fine) if flags(r) & BACKWARD}
    assert len(engine) == 1
    own = [r for r in after if r["kind"] == "alloc" and r["thread"] not in engine]
    assert own and not [r for r in own if flags(r) & BACKWARD or "node" in r]
    in_engine = [r for r in seen.allocations(fine) if flags(r) & BACKWARD]
    assert_in_order(seen, in_engine, fine["nodes"])


def test_tensors_that_hooks_take_away_are_told_apart(scene):
    seen = scene("offloaded")
    (known,) = seen.facts
    packed = {r["address"] for r in seen.records
              if r["kind"] == "saved" and r["flags"] & SAVED_PACKED}
    assert packed == set(known["packed"])
    assert not [r for r in seen.records if r["kind"] == "saved" and not r["flags"] & SAVED_PACKED]


def test_tensors_on_the_context_of_a_function_are_told_when_its_backward_runs(scene):
    seen = scene("attributes")
    assert len(seen.facts) == 6
    for known in seen.facts:
        told = {r["address"] for r in seen.between(known)
                if r["kind"] == "saved" and r["flags"] & SAVED_ATTRIBUTE}
        assert told == set(known["kept"] if known["how"] != "nothing" else ()), known["how"]


@pytest.mark.slow
def test_long_graphs_are_known_once_one_was_too_long(scene):
    seen = scene("many_nodes")
    passes = []
    for known in seen.facts:
        in_engine = [r for r in seen.allocations(known) if flags(r) & BACKWARD]
        assert len(in_engine) >= 33_000
        passes.append(sum("forward" not in r for r in in_engine))
    # 2^15 nodes are remembered at first, twice as many after one was missed.
    assert 0 < passes[0] <= 33_000 - 2**15 + 10
    assert passes[1] == 0


def test_modes_and_casts(scene):
    seen = scene("modes")
    by_mode = {known["mode"]: flags(seen.records[seen.place_of(known["mark"])])
               for known in seen.facts if "mode" in known}
    assert by_mode == {
        "enable_grad": GRAD, "no_grad": 0, "inference_mode": INFERENCE, "autocast": GRAD | AUTOCAST,
    }
    copied = seen.facts[-1]
    casts = [r for r in seen.records if r["kind"] == "storage" and r["role"] == "cast"]
    x, weight = copied["copied"]
    # x is copied at each use, the weight once: autocast keeps the copies of trained leaves.
    assert sorted((r["bytes"], r["flags"]) for r in casts) == sorted([(x, 0), (x, 0), (weight, 1)])
    inside = [r["address"] for r in seen.records if r["kind"] == "alloc" and flags(r) & CAST]
    assert inside == [r["address"] for r in casts]


def test_without_the_agent_tensors_are_not_read(built, tmp_path):
    seen = Scene("transformer", tmp_path, env={"MEMTRACE_AGENT": "0"})
    assert "saved tensors and leaves are not known" in seen.info["autograd"]
    assert not [r for r in seen.records if r["kind"] == "saved"]
    for known in seen.facts:
        assert [r for r in seen.allocations(known) if flags(r) & BACKWARD and "node" in r]
