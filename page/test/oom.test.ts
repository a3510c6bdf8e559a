// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import type { Oom } from "../src/data/report";
import { fallOf } from "../src/ui/oom";

test("the waterfall goes from what the GPU has down to what is free", () => {
  const oom = { capacity_bytes: 1000, reserved_bytes: 800, allocated_bytes: 700, free_bytes: 50, requested_bytes: 60 } as Oom;
  const steps = fallOf(oom);
  assert.deepEqual(steps.map((one) => [one.key, one.bytes]), [["oom:capacity", 1000], ["oom:outside", 150],
    ["oom:allocated", 700], ["oom:unused", 100], ["oom:free", 50]]);
  assert.deepEqual(steps.map((one) => [one.from, one.to]), [[0, 1000], [850, 1000], [150, 850], [50, 150], [0, 50]]);
});

test("a waterfall of a GPU whose size is not known", () => {
  const oom = { capacity_bytes: null, reserved_bytes: 800, allocated_bytes: 700, free_bytes: 50, requested_bytes: 60 } as Oom;
  assert.deepEqual(fallOf(oom).map((one) => one.key), ["oom:allocated", "oom:unused", "oom:free"]);
});
