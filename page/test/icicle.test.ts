// SPDX-License-Identifier: Apache-2.0
// What an icicle leaves out, puts together, and says of a difference.
import assert from "node:assert/strict";
import test from "node:test";
import { bySign, treeOf, type TreeNode } from "../src/data/icicle";
import { weighed } from "../src/data/moment";
import { isPlumbing } from "../src/data/plumbing";
import { historyOf } from "./histories";

const SITE = "/opt/torch/lib/python3.12/site-packages";
const place = (file: string, name: string, user = false) => ({ file, function: name, line: 1, user });

test("plumbing is the call machinery of PyTorch's modules and its decorators, and nothing of anybody else", () => {
  const module = `${SITE}/torch/nn/modules/module.py`;
  for (const name of ["_wrapped_call_impl", "_call_impl", "inner", "_apply"]) assert.ok(isPlumbing(place(module, name)), name);
  assert.ok(isPlumbing(place("/src/pytorch/torch/nn/modules/module.py", "_call_impl")));
  assert.ok(isPlumbing(place("torch/nn/modules/module.py", "_call_impl")));
  assert.ok(isPlumbing(place(`${SITE}/torch/utils/_contextlib.py`, "decorate_context")));
  assert.ok(isPlumbing(place(`${SITE}/torch/optim/optimizer.py`, "wrapper")));
  assert.ok(isPlumbing(place(`${SITE}/torch/amp/autocast_mode.py`, "decorate_autocast")));
  assert.ok(!isPlumbing(place(module, "to")));
  assert.ok(!isPlumbing(place(`${SITE}/torch/nn/modules/linear.py`, "forward")));
  assert.ok(!isPlumbing(place(`${SITE}/transformers/utils/generic.py`, "wrapper")));
  assert.ok(!isPlumbing(place("/home/me/torch/optim/mine.py", "wrapper", true)));
});

const names = (node: TreeNode): unknown[] => node.children.map((one) => [one.name, one.bytes, ...names(one)]);

test("frames of plumbing are left out, unless all are wanted; what has no other frame keeps the innermost", () => {
  // train.py: main calls a module's __call__, that its forward; node 4 is plumbing alone.
  const of = historyOf({
    "stacks/parent": [0, 0, 1, 2, 0], "stacks/frame": [0, 1, 2, 3, 2],
    "frames/file": [0, 1, 2, 1], "frames/function": [0, 3, 4, 5], "frames/line": [0, 1, 2, 3], "frames/user": [0, 1, 0, 1],
    "0/blocks/stack": [3, 4], "0/blocks/forward": [0, 0], "0/blocks/module": [0, 0],
  }, { texts: ["", "train.py", `${SITE}/torch/nn/modules/module.py`, "main", "_call_impl", "forward"] });
  const tree = (isAll: boolean) => names(treeOf(of, [0, 1], (block) => 10 - block, "stack", isAll));
  assert.deepEqual(tree(false), [["main", 10, ["forward", 10]], ["_call_impl", 9]]);
  assert.deepEqual(tree(true), [["main", 10, ["_call_impl", 10, ["forward", 10]]], ["_call_impl", 9]]);
});

const MODULES = [
  { root: null, path: null, type: null, parent: null }, { root: "Net", path: "", type: "Net", parent: null },
  { root: "Net", path: "blocks", type: "ModuleList", parent: 1 },
  { root: "Net", path: "blocks.0", type: "Block", parent: 2 }, { root: "Net", path: "blocks.1", type: "Block", parent: 2 },
  { root: "Net", path: "blocks.2", type: "Identity", parent: 2 },
  { root: "Net", path: "blocks.0.fc", type: "Linear", parent: 3 }, { root: "Net", path: "blocks.1.fc", type: "Linear", parent: 4 },
];

test("members of a list that are of one class share a box, with how many they are", () => {
  const of = historyOf({ "0/blocks/module": [6, 7, 3, 5] }, {}, { modules: MODULES });
  const weigh = (block: number) => [1, 2, 4, 8][block]!;
  const tree = treeOf(of, [0, 1, 2, 3], weigh, "module");
  assert.deepEqual(names(tree), [["Net", 15, ["blocks", 15, ["2", 8], ["blocks.* ×2", 7, ["fc", 3]]]]]);
  assert.equal(tree.children[0]!.children[0]!.children[1]!.detail, "Net.blocks.* (Block)");
  assert.deepEqual(names(treeOf(of, [0, 1, 2, 3], weigh, "module", true)),
    [["Net", 15, ["blocks", 15, ["2", 8], ["0", 5, ["fc", 1]], ["1", 2, ["fc", 2]]]]]);
});

test("where one member of a list alone has memory it has its own name", () => {
  const of = historyOf({ "0/blocks/module": [7] }, {}, { modules: MODULES });
  const list = treeOf(of, [0], () => 2, "module").children[0]!.children[0]!;
  assert.deepEqual(list.children.map((one) => [one.name, one.detail]), [["1", "Net.blocks.1 (Block)"]]);
});

test("a difference is what grew and what shrank at each place, and the one less the other is the whole of it", () => {
  const of = historyOf({
    "0/blocks/born_event": [0, 0, 0, 5, 5], "0/blocks/died_event": [99, 4, 4, 99, 99], "0/blocks/bytes": [100, 30, 7, 10, 7],
    "0/blocks/module": [1, 3, 6, 4, 6],
  }, {}, { modules: MODULES });
  const { blocks, weigh } = weighed(of, 9, 2);
  assert.deepEqual(blocks, [3, 4, 1, 2]);
  const tree = treeOf(of, blocks, weigh, "module", true);
  assert.equal(tree.bytes, -20);
  const { grew, shrank } = bySign(tree);
  assert.deepEqual(names(grew), [["Net", 10, ["blocks", 10, ["1", 10]]]]);
  assert.deepEqual(names(shrank), [["Net", 30, ["blocks", 30, ["0", 30]]]]);
  assert.equal(grew.bytes - shrank.bytes, tree.bytes);
});
