# SPDX-License-Identifier: Apache-2.0
"""The rules for what counts as right beside the truth, on made-up blocks."""

import pytest

import compiled_agreement

MODEL = "/program/model.py"


def site(*frames, forward=()):
    return {"frames": [{"file": file, "line": line} for file, line in frames],
            "forward_frames": [{"file": file, "line": line} for file, line in forward]}


def node(line, module, name="mm"):
    return {"node": name, "frames": [[MODEL, line], [MODEL, 90]], "module": ["GPT", module] if module else None}


def judged(block, theirs, frames, at_peak=True, now=None):
    """One block of 1000 bytes, the first allocation of its process, at event 7."""
    memory = [{"call_sites": [frames], "blocks": [{
        "born_event": 7, "bytes": 1000, "category": "activations", "root": "GPT", "module": "", "phase": "forward",
        "rule": "a_rule", "call_site": 0, **theirs}]}]
    truth = {"blocks": [{}, {"roles": {}, **block}]}
    blocks = None if at_peak else [{"born": 1, "bytes": 1000, "now": now}]
    return compiled_agreement.judge("a moment", blocks, truth, memory, {7: 1})


SAVED = {"roles": {"activations": "saved"}, "graph": "forward"}


def test_the_nodes_own_line_and_module_are_right():
    found = judged({**SAVED, "output": [node(5, "blocks.0.mlp")]}, {"module": "blocks.0.mlp"}, site((MODEL, 5)))
    assert (found.module.right, found.line.right, found.category.right, found.by_view) == (1000, 1000, 1000, 0)
    assert found.good and not found.mistakes


def test_the_line_of_what_a_view_shows_is_right_and_counted_apart():
    chain = [node(6, "blocks.0.attn", "view"), node(5, "blocks.0.attn.c_attn")]
    found = judged({**SAVED, "output": chain}, {"module": "blocks.0.attn.c_attn"}, site((MODEL, 5)))
    assert (found.line.right, found.by_view, found.module.right) == (1000, 1000, 1000)


@pytest.mark.parametrize("theirs, line, wrong", [
    ({"module": "blocks.1.mlp"}, 5, "module"),
    ({"module": "blocks.0.mlp", "root": "Other"}, 5, "module"),
    ({"module": "blocks.0.mlp"}, 90, "line"),  # the caller's line is not the line
    ({"module": "blocks.0.mlp", "category": "inputs"}, 5, "category"),
])
def test_another_module_line_or_category_is_wrong(theirs, line, wrong):
    found = judged({**SAVED, "output": [node(5, "blocks.0.mlp")]}, theirs, site((MODEL, line)))
    shares = {"module": found.module, "line": found.line, "category": found.category}
    assert {name for name, share in shares.items() if share.right == 0} == {wrong}
    assert not found.good and sum(found.mistakes.values()) == 1000


def test_what_forward_saves_is_its_last_life_and_what_backward_makes_any():
    lives = {"output": [node(9, "blocks.0")], "origins": [node(5, "blocks.0.mlp")]}
    of_first = ({"module": "blocks.0.mlp"}, site((MODEL, 5)))
    assert judged({**SAVED, **lives}, *of_first).line.right == 0
    assert judged({**lives, "graph": "backward", "roles": {}}, {**of_first[0], "category": "temporaries"},
                  of_first[1]).line.right == 1000


def test_lines_of_pytorch_are_passed_over_and_backward_has_its_forwards():
    torch_line = ("/somewhere/site-packages/torch/_inductor/utils.py", 3)
    block = {"output": [node(5, "blocks.0.mlp")], "graph": "backward", "roles": {"gradients": "gradient"},
             "owners": [["GPT", "blocks.0.mlp"]]}
    theirs = {"module": "blocks.0.mlp", "category": "gradients"}
    assert judged(block, theirs, site(torch_line, forward=[(MODEL, 5)])).good
    assert not judged(block, theirs, site(torch_line)).good


def test_an_activation_that_is_held_after_backward_is_none():
    block = {**SAVED, "output": [node(5, "")]}
    held = judged(block, {"category": "outputs"}, site((MODEL, 5)), at_peak=False, now=None)
    assert held.category.right == 1000
    still = judged(block, {"category": "outputs"}, site((MODEL, 5)), at_peak=False, now="activations")
    assert still.category.right == 0


def test_a_block_of_one_side_only_is_strange():
    truth = {"blocks": [{}, {"roles": {}}]}
    assert compiled_agreement.judge("m", [{"born": 1, "bytes": 8, "now": None}], truth, [], {}).strange_blocks == 1
