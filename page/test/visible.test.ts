// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { byArea, Pace, visibleIn, type Rectangles } from "../src/ui/visible";

// Each row is left, right, bottom, top. Areas 1, 100, 4; the last one far to the right.
function rectangles(): Rectangles {
  const edges = [[0, 1, 0, 1], [0, 10, 10, 20], [100, 102, 0, 2]];
  const edge = (which: number) => Float64Array.from(edges, (one) => one[which]!);
  return { left: edge(0), right: edge(1), bottom: edge(2), top: edge(3), colours: new Uint8Array(12) };
}

test("the largest rectangles of the window first, and no more than were asked for", () => {
  const all = rectangles();
  const order = byArea(all);
  assert.deepEqual([...order], [1, 2, 0]);
  const found = new Uint32Array(3);
  const window = { left: 0, right: 50, bottom: 0, top: 50 };
  assert.equal(visibleIn(window, all, order, 3, found), 2);
  assert.deepEqual([...found.subarray(0, 2)], [1, 0]);
  assert.equal(visibleIn(window, all, order, 1, found), 1);
  assert.equal(found[0], 1);
  assert.equal(visibleIn({ left: 20, right: 30, bottom: 0, top: 50 }, all, order, 3, found), 0);
});

test("frames that are quick get more rectangles, slow ones fewer, and no more than proved too many", () => {
  const pace = new Pace();
  const first = pace.next(0);
  let quick = first;
  for (let i = 1; i <= 12; ++i) quick = pace.next(16 * i);
  assert.ok(quick > 300_000, `${quick}`);
  const slow = pace.next(16 * 12 + 60);
  assert.ok(slow < quick);
  let again = slow;
  for (let i = 1; i <= 12; ++i) again = pace.next(16 * 12 + 60 + 16 * i);
  assert.ok(again > slow && again < quick);
  for (let i = 1; i <= 30; ++i) again = pace.next(500 + 100 * i);
  assert.ok(again >= 1_000 && again < first);
});
