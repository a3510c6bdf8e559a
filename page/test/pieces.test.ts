// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { pieces, pointUnder } from "../src/data/pieces";

test("a peak that is narrower than a pixel is drawn, and what follows it goes on at its own height", () => {
  const at = [0, 3.1, 3.2, 3.3, 6];
  const height = [1, 2, 9, 4, 1];
  assert.deepEqual(pieces(0, 4, 10, (i) => at[i]!, (i) => height[i]!), [
    { left: 0, right: 1, point: 0 }, { left: 1, right: 3, point: 0 },
    { left: 3, right: 4, point: 2 }, { left: 4, right: 6, point: 3 },
    { left: 6, right: 7, point: 4 }, { left: 7, right: 10, point: 4 },
  ]);
});

test("of moments in one column one that is known stands for those that are not", () => {
  const height = [NaN, 3, NaN];
  assert.deepEqual(pieces(0, 2, 1, (i) => i / 10, (i) => height[i]!), [{ left: 0, right: 1, point: 1 }]);
  assert.deepEqual(pieces(0, -1, 1, (i) => i, (i) => height[i]!), []);
});

test("a place on the axis names the moment that is drawn there", () => {
  const places = [0, 10, 11, 12, 40];
  const heights = [1, 2, 9, 4, 1];
  assert.equal(pointUnder(places, heights, 9, 13), 2);
  assert.equal(pointUnder(places, heights, 30, 31), 3);
  assert.equal(pointUnder(places, heights, -5, -4), 0);
  assert.equal(pointUnder(places, heights, 90, 95), 4);
});
