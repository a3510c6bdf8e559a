// SPDX-License-Identifier: Apache-2.0
// The table of who held a moment: its rows add up to the byte, and are sorted, filtered and copied as they are.
import assert from "node:assert/strict";
import test from "node:test";
import { csvOf, dimensionsOf, filtered, holdersOf, ordered, sumOf, type Dimension, type Holder } from "../src/data/holders";
import { turned } from "../src/ui/holders";
import { historyOf } from "./histories";

const TEXTS = ["", "/w/a.py", "/lib/b.py", "main", "call", "fc.weight"];
const COLUMNS = {  // 1: main a.py:3; 2: call b.py:9 of a library, called by 1; 3: main a.py:4
  "stacks/parent": [0, 0, 1, 0], "stacks/frame": [0, 1, 2, 3],
  "frames/file": [0, 1, 2, 1], "frames/function": [0, 3, 4, 3], "frames/line": [0, 3, 9, 4], "frames/user": [0, 1, 0, 1],
  "0/blocks/born_event": [0, 1, 2, 10, 11], "0/blocks/died_event": [99, 99, 9, 99, 99],
  "0/blocks/bytes": [4 * 2 ** 40 + 1, 512, 2048, 7, 512],
  "0/blocks/stack": [1, 2, 3, 0, 3], "0/blocks/module": [1, 1, 0, 2, 0], "0/blocks/name": [5, 5, 0, 0, 0], "0/blocks/category": [0, 1, 1, 2, 1],
};
const MODULES = [{ root: null, path: null, type: null, parent: null }, { root: "Net", path: "fc", type: "Linear", parent: null },
  { root: "Net", path: "act", type: "ReLU", parent: null }];
const history = () => historyOf(COLUMNS, { texts: TEXTS, categories: ["weights", "kv_cache", "unknown"] }, { modules: MODULES });

test("the rows of each kind add up to the blocks of the moment, and to those of the other one", () => {
  const of = history();
  const size = of.block("bytes");
  const whole = (event: number) => of.aliveAt(event).reduce((sum, one) => sum + size[one]!, 0);
  for (const by of ["line", "outside", "module", "name", "category"] as Dimension[]) {
    const rows = holdersOf(of, 20, 5, by);
    assert.deepEqual(sumOf(rows), { bytes: whole(20), blocks: 4, before: whole(5) }, by);
    assert.equal(new Set(rows.map((one) => one.detail)).size, rows.length, by);
  }
});

test("a row is the user's line, has its categories in order, and what is gone has the one that it had", () => {
  const rows = holdersOf(history(), 20, null, "line");
  assert.deepEqual(rows.map((one) => [one.name, one.detail, one.bytes, one.blocks, one.categories]), [
    ["a.py:3 main", "/w/a.py:3 in main", 4 * 2 ** 40 + 513, 2, ["weights", "kv_cache"]],
    ["a.py:4 main", "/w/a.py:4 in main", 512, 1, ["kv_cache"]], ["", "", 7, 1, ["unknown"]]]);
  const gone = holdersOf(history(), 5, 20, "module").find((one) => one.name === "Net.act")!;
  assert.deepEqual([gone.bytes, gone.blocks, gone.before, gone.categories], [0, 0, 7, ["unknown"]]);
});

test("a library's own line is named, not PyTorch's; the backward pass after the forward line that it belongs to", () => {
  const of = historyOf({ ...COLUMNS, "frames/file": [0, 1, 2, 6], "frames/user": [0, 1, 0, 0],
    "stacks/parent": [0, 0, 1, 2], "0/blocks/stack": [3, 1, 3, 0, 0], "0/blocks/forward": [0, 0, 0, 3, 0] },
    { texts: [...TEXTS, "/x/site-packages/torch/nn/functional.py"], categories: ["weights", "kv_cache", "unknown"] }, { modules: MODULES });
  const names = (by: Dimension) => holdersOf(of, 20, null, by).map((one) => [one.name, one.bytes]);
  const most = 4 * 2 ** 40 + 1;
  assert.deepEqual(names("outside"), [["b.py:9 call", most], ["a.py:3 main", 512], ["", 512], ["backward of b.py:9 call", 7]]);
  assert.deepEqual(names("line"), [["a.py:3 main", most + 512], ["", 512], ["backward of a.py:3 main", 7]]);
});

test("there is no row for a name or a module where no block has one", () => {
  assert.deepEqual(dimensionsOf(history()), ["outside", "line", "module", "name", "category"]);
  const plain = historyOf({ ...COLUMNS, "0/blocks/module": [0, 0, 0, 0, 0], "0/blocks/name": [0, 0, 0, 0, 0] },
    { texts: TEXTS, categories: ["weights", "kv_cache", "unknown"] }, { modules: MODULES });
  assert.deepEqual(dimensionsOf(plain), ["outside", "line", "category"]);
});

const row = (name: string, bytes: number, blocks: number, before = 0): Holder => ({ name, detail: name, bytes, blocks, before, categories: ["kv_cache"] });

test("a row is found by its name, its path, its category, and the words for having no name", () => {
  const rows = holdersOf(history(), 20, null, "line");
  const names = (wanted: string) => filtered(rows, wanted, "no Python frame").map((one) => one.name);
  assert.deepEqual(names(" A.PY:4 "), ["a.py:4 main"]);
  assert.deepEqual(names("/w/"), ["a.py:3 main", "a.py:4 main"]);
  assert.deepEqual(names("kv cache"), ["a.py:3 main", "a.py:4 main"]);
  assert.deepEqual(names("no python"), [""]);
  assert.deepEqual(names("nowhere"), []);
  assert.equal(names("").length, 3);
});

test("rows that are alike in a column keep their order, in both directions", () => {
  const rows = [row("b10", 5, 1), row("b9", 5, 2, 9), row("a", 7, 1), row("c", 1, 1)];
  const names = (column: "name" | "bytes" | "blocks" | "change", down: boolean) => ordered(rows, { column, down }).map((one) => one.name);
  assert.deepEqual(names("bytes", true), ["a", "b10", "b9", "c"]);
  assert.deepEqual(names("bytes", false), ["c", "b10", "b9", "a"]);
  assert.deepEqual(names("blocks", true), ["b9", "b10", "a", "c"]);
  assert.deepEqual(names("name", false), ["a", "b9", "b10", "c"]);
  assert.deepEqual(names("change", false), ["b9", "c", "b10", "a"]);
  assert.deepEqual(rows.map((one) => one.name), ["b10", "b9", "a", "c"]);
});

test("a first click on numbers gives the largest, on words the first; a second one turns it around", () => {
  const bytes = { column: "bytes", down: true } as const;
  assert.deepEqual(turned(bytes, "bytes"), { column: "bytes", down: false });
  assert.deepEqual(turned(bytes, "blocks"), { column: "blocks", down: true });
  assert.deepEqual(turned(bytes, "name"), { column: "name", down: false });
});

test("comma-separated values are quoted where they have to be, and bytes are whole numbers", () => {
  const rows = [row("say \"a,b\"\nc", 3 * 2 ** 40, 1234, 2 ** 41), row("plain", 1, 1)];
  assert.equal(csvOf(rows, "line", 6 * 2 ** 40, true),
    "line,bytes,share,blocks,categories,change_bytes\r\n"
    + "\"say \"\"a,b\"\"\nc\",3298534883328,0.5,1234,kv_cache,1099511627776\r\nplain,1,0,1,kv_cache,1\r\n");
  assert.equal(csvOf(rows.slice(1), "category", 1, false), "category,bytes,share,blocks\r\nplain,1,1,1\r\n");
});
