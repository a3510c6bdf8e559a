// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { beside } from "../src/ui/tip";

test("a tip stands beside the pointer, on its other side at the end of the screen, and never outside of it", () => {
  const screen = { width: 400, height: 300 };
  assert.deepEqual(beside({ x: 50, y: 60 }, { width: 100, height: 40 }, screen), { x: 64, y: 74 });
  assert.deepEqual(beside({ x: 390, y: 290 }, { width: 100, height: 40 }, screen), { x: 276, y: 236 });
  assert.deepEqual(beside({ x: 200, y: 150 }, { width: 390, height: 40 }, screen), { x: 6, y: 164 });
});
