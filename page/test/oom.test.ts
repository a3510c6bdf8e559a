// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import type { Oom } from "../src/data/report";
import { drawn, piecesOf, sharesOf, whyOf } from "../src/ui/failure";

const UNUSED = { empty_segments_bytes: 0, split_segments_bytes: 100, expandable_segments_bytes: 0, private_pools_bytes: 0, pending_free_bytes: 0 };
const FAILED = {
  capacity_bytes: 1000, reserved_bytes: 800, allocated_bytes: 700, free_bytes: 50, requested_bytes: 200, graph_pool_bytes: 0, unused: UNUSED,
  holders: [{ category: "weights", bytes: 200 }, { category: "activations", bytes: 300 }, { category: "activations", bytes: 200 }],
} as unknown as Oom;

const told = (oom: Oom) => piecesOf(oom).map((one) => [one.key, one.bytes]);

test("the parts of the GPU at the failure add up to it, the largest category first", () => {
  assert.deepEqual(told(FAILED), [["oom:outside", 150], ["oom:category:activations", 500], ["oom:category:weights", 200],
    ["oom:unused", 100], ["oom:free", 50]]);
});

test("what replays of CUDA graphs need is a part of its own, and would not have helped", () => {
  const graphs = { ...FAILED, graph_pool_bytes: 90 };
  assert.deepEqual(told(graphs).slice(3), [["oom:graph_pool", 90], ["oom:unused", 10], ["oom:free", 50]]);
  assert.equal(whyOf({ ...graphs, requested_bytes: 120 }), "too_little");
});

test("what no line is known of is a part, and without lines what is allocated is one", () => {
  assert.deepEqual(told({ ...FAILED, holders: FAILED.holders.slice(0, 2) }).slice(1, 4),
    [["oom:category:activations", 300], ["oom:category:weights", 200], ["oom:no_line", 200]]);
  assert.deepEqual(told({ ...FAILED, holders: [] })[1], ["oom:allocated", 700]);
});

test("a GPU whose size is not known has nothing outside", () => {
  assert.deepEqual(told({ ...FAILED, capacity_bytes: null, holders: [] }).map(([key]) => key), ["oom:allocated", "oom:unused", "oom:free"]);
});

test("shares keep their sum, and what is small is seen", () => {
  const shares = sharesOf([1, 999, 0], [0.01, 0.01, 0.01]);
  assert.deepEqual(shares, [0.01, 0.99, 0]);
  assert.deepEqual(sharesOf([0, 0], [0.1, 0.1]), [0, 0]);
});

test("the request begins where the free memory does, and goes beyond the end by what is lacking", () => {
  const { pieces, before, inside, over } = drawn(FAILED, piecesOf(FAILED));
  assert.ok(Math.abs(over - 150 / 1150) < 1e-9 && Math.abs(inside - 50 / 1150) < 1e-9);
  assert.ok(Math.abs(before + inside + over - 1) < 1e-9);
  assert.ok(Math.abs(pieces.reduce((sum, one) => sum + one, 0) + over - 1) < 1e-9);
  const refused = { ...FAILED, requested_bytes: 25 };
  assert.equal(drawn(refused, piecesOf(refused)).over, 0);
  assert.ok(Math.abs(drawn(refused, piecesOf(refused)).inside - 0.025) < 1e-9);
});

test("why a request did not fit", () => {
  assert.equal(whyOf(FAILED), "too_little");
  assert.equal(whyOf({ ...FAILED, requested_bytes: 120 }), "pieces");
  assert.equal(whyOf({ ...FAILED, requested_bytes: 120, unused: { ...UNUSED, split_segments_bytes: 20, private_pools_bytes: 80 } }), "kept_apart");
  assert.equal(whyOf({ ...FAILED, requested_bytes: 40 }), "refused");
});
