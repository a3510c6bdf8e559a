// SPDX-License-Identifier: Apache-2.0
// The page's words about a moment besides bytes, and about the blocks that it leaves out.
import assert from "node:assert/strict";
import test from "node:test";
import type { HistoryFacts } from "../src/data/facts";
import type { History } from "../src/data/history";
import { treeOf } from "../src/data/icicle";
import { leftOutLines } from "../src/data/left_out";
import { phaseAt, phaseNames, stepAt } from "../src/data/when";
import { historyOf as made } from "./histories";

const EMPTY = { device: 0, pid: 1, rank: null, duration_ns: 100, events: 100, modules: [], streams: [], marks: [], marks_left_out: 0,
  timeline: { points: 0, categories: [] }, blocks: { kept: 0, recorded: 0, left_out: 0, left_out_byte_ns: 0 } };

function historyOf(columns: Record<string, number[]>, texts: string[], steps: { count: number; shown: number }): History {
  return made(columns, { texts }, { ...EMPTY, steps: { ...steps, unit: "step" } } as unknown as HistoryFacts);
}

const FRAMES = {  // 1: main a.py:3, 2: library lib.py:9, called by 1; 3: main a.py:4
  "stacks/parent": [0, 0, 1, 0], "stacks/frame": [0, 1, 2, 3],
  "frames/file": [0, 1, 2, 1], "frames/function": [0, 3, 4, 3], "frames/line": [0, 3, 9, 4], "frames/user": [0, 1, 0, 1],
};
const TEXTS = ["", "a.py", "lib.py", "main", "call", "epoch", "forward"];

test("the phase of a moment is the innermost one, and a step begins after the one before it", () => {
  const history = historyOf({ "0/phases/begin_ns": [0, 10], "0/phases/end_ns": [90, 20], "0/phases/name": [5, 6],
    "0/steps/number": [7, 8], "0/steps/end_event": [30, 60] }, TEXTS, { count: 2, shown: 2 });
  assert.deepEqual([5, 15, 50, 95].map((ns) => phaseAt(history, ns)), ["epoch", "forward", "epoch", ""]);
  assert.deepEqual([0, 30, 31, 61].map((event) => stepAt(history, event)), [7, 7, 8, null]);
  assert.deepEqual(phaseNames(history), ["epoch", "forward"]);
});

test("of thinned steps nobody knows which one a moment is in", () => {
  const history = historyOf({ "0/steps/number": [7], "0/steps/end_event": [30] }, TEXTS, { count: 9, shown: 1 });
  assert.equal(stepAt(history, 3), null);
});

test("blocks that are left out are added up by the user's line", () => {
  const history = historyOf({ ...FRAMES, "0/left_out/stack": [1, 2, 3, 0], "0/left_out/blocks": [5, 6, 1, 2],
    "0/left_out/byte_ns": [10, 20, 100, 1], "0/left_out/most_bytes": [512, 1024, 2048, 64] }, TEXTS, { count: 0, shown: 0 });
  assert.deepEqual(leftOutLines(history).map((one) => [one.file, one.line, one.blocks, one.byteNs, one.mostBytes]),
    [["a.py", 4, 1, 100, 2048], ["a.py", 3, 11, 30, 1024], ["", 0, 2, 1, 64]]);
});

test("an icicle of the user's own files leaves the library's frames out", () => {
  const history = historyOf({ ...FRAMES, "0/blocks/stack": [2, 3], "0/blocks/forward": [0, 2], "0/blocks/module": [0, 0] }, TEXTS, { count: 0, shown: 0 });
  const tree = treeOf(history, [0, 1], (block) => 10 + block, "own");
  assert.equal(tree.bytes, 21);
  assert.deepEqual(tree.children.map((one) => [one.detail, one.bytes, one.children.map((inner) => inner.name)]), [["a.py:3", 21, ["backward of this line"]]]);
});
