// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";
import { heightOf, placeOf, rangesOf } from "../src/data/address_map";
import { bytesOfBase64, Columns, decoded, inflated } from "../src/data/columns";
import type { ColumnPlace, Facts, HistoryFacts } from "../src/data/facts";
import { blocksOf } from "../src/data/heap";
import { History, lastAtOrBefore, Stacks } from "../src/data/history";
import { matched, treeOf } from "../src/data/icicle";

function place(name: string, type: ColumnPlace["type"], count: number, offset: number, more: Partial<ColumnPlace> = {}): ColumnPlace {
  return { name, type, count, offset, delta: false, base: 0, scale: 1, ...more };
}

test("a column of differences goes beyond 32 bits", () => {
  const buffer = Uint32Array.from([4_000_000_000, 4_000_000_000]).buffer;
  const values = decoded(buffer, place("t", "u32", 2, 0, { delta: true, base: 7, scale: 2 }));
  assert.deepEqual([...values], [8_000_000_007, 16_000_000_007]);
});

test("packed columns are what was packed", async () => {
  const raw = Buffer.from(Float64Array.from([1.5, NaN]).buffer);
  const buffer = await inflated(bytesOfBase64(deflateSync(raw).toString("base64")));
  const columns = new Columns(buffer, [place("a", "f64", 2, 0)]);
  assert.equal(columns.get("a")[0], 1.5);
  assert.ok(Number.isNaN(columns.get("a")[1]));
  assert.equal(columns.get("not there").length, 0);
});

test("the last value at or before", () => {
  assert.equal(lastAtOrBefore([], 3), -1);
  assert.equal(lastAtOrBefore([4, 5], 3), -1);
  assert.equal(lastAtOrBefore([1, 3, 3, 5], 3), 2);
  assert.equal(lastAtOrBefore([1, 3], 9), 1);
});

test("addresses without their gaps", () => {
  const ranges = rangesOf([0, 1 << 20, 2 ** 40, 512], [512, 512, 1024, 512], 1024);
  assert.deepEqual(ranges, [{ from: 0, to: 1024, at: 0 }, { from: 1 << 20, to: (1 << 20) + 512, at: 1024 },
                            { from: 2 ** 40, to: 2 ** 40 + 1024, at: 1536 }]);
  assert.equal(heightOf(ranges), 2560);
  assert.equal(placeOf(ranges, 2 ** 40 + 512), 2048);
  assert.equal(placeOf(ranges, 512), 512);
});

test("the blocks of a segment", () => {
  assert.deepEqual(blocksOf("a2@3 c1 p4 u8"), [
    { state: "allocated", bytes: 1024, site: 3 }, { state: "cached", bytes: 512, site: null },
    { state: "pending", bytes: 2048, site: null }, { state: "unbacked", bytes: 4096, site: null }]);
  assert.deepEqual(blocksOf(""), []);
});

// main() calls f() and g(); what g makes in backward belongs to f.
const TEXTS = ["", "train.py", "main", "f", "g", "engine.py", "layer.weight"];
const VALUES: Record<string, number[]> = {
  "stacks/parent": [0, 0, 1, 1], "stacks/frame": [0, 0, 1, 2],
  "frames/file": [1, 1, 5], "frames/line": [1, 2, 3], "frames/function": [2, 3, 4], "frames/user": [1, 1, 0],
  "0/blocks/born_event": [0, 2, 4], "0/blocks/died_event": [9, 3, 9], "0/blocks/bytes": [100, 20, 3],
  "0/blocks/stack": [2, 2, 3], "0/blocks/forward": [0, 0, 2], "0/blocks/module": [1, 0, 2],
};

function history(): History {
  const list: ColumnPlace[] = [];
  const all: number[] = [];
  for (const [name, values] of Object.entries(VALUES)) {
    list.push(place(name, "f64", values.length, 8 * all.length));
    all.push(...values);
  }
  const facts = { texts: TEXTS, columns: { bytes: 0, list } } as unknown as Facts;
  const own = { events: 8, modules: [{ root: null, path: null, type: null, parent: null },
    { root: "Net", path: "", type: "Net", parent: null }, { root: "Net", path: "layer", type: "Linear", parent: 1 }] } as unknown as HistoryFacts;
  const columns = new Columns(Float64Array.from(all).buffer, list);
  return new History(own, 0, facts, columns, new Stacks(facts, columns));
}

test("blocks that live at a moment", () => {
  assert.deepEqual(history().aliveAt(2), [0, 1]);
  assert.deepEqual(history().aliveAt(3), [0]);
  assert.deepEqual(history().aliveAt(8), [0, 2]);
});

test("an icicle by stack, backward below its forward line", () => {
  const of = history();
  const tree = treeOf(of, of.aliveAt(8), (block) => of.block("bytes")[block]!, "stack");
  assert.equal(tree.bytes, 103);
  const main = tree.children[0]!;
  assert.deepEqual([main.name, main.bytes], ["main", 103]);
  const f = main.children[0]!;
  assert.deepEqual([f.name, f.bytes, f.blocks], ["f", 103, 2]);
  assert.deepEqual(f.children.map((one) => [one.name, one.bytes]), [["backward of this line", 3]]);
  assert.equal(matched(tree, "engine.py"), 3);
  assert.equal(matched(tree, "nothing"), 0);
});

test("an icicle by module, and the innermost line first", () => {
  const of = history();
  const weigh = (block: number) => of.block("bytes")[block]!;
  const modules = treeOf(of, [0, 1, 2], weigh, "module");
  assert.deepEqual(modules.children.map((one) => [one.name, one.bytes]), [["Net", 103], ["in no module", 20]]);
  assert.deepEqual(modules.children[0]!.children.map((one) => [one.name, one.bytes]), [["layer", 3]]);
  const inverted = treeOf(of, [0, 1], weigh, "inverted");
  assert.deepEqual(inverted.children.map((one) => [one.name, one.bytes]), [["f", 120]]);
});

test("the user's own line stands for a stack", () => {
  assert.equal(history().stacks.line(3)!.function, "main");
  assert.equal(history().stacks.line(0), null);
});
