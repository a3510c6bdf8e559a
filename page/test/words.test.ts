// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import type { Verdict } from "../src/data/report";
import { adviceHeading, adviceWords, answerWords, summaryOf } from "../src/text/named";
import { bytes, duration, percent, shown } from "../src/text/units";
import { fromHash, toHash } from "../src/ui/state";

test("bytes in binary units", () => {
  assert.equal(bytes(17), "17 bytes");
  assert.equal(bytes(1024), "1 KiB");
  assert.equal(bytes(24 * 2 ** 30), "24 GiB");
  assert.equal(bytes(-3 * 2 ** 20), "-3 MiB");
});

test("durations and shares", () => {
  assert.equal(duration(3.42e9), "3.42 s");
  assert.equal(duration(125e9), "2 min 5 s");
  assert.equal(duration(17e6), "17.0 ms");
  assert.equal(percent(1, 0), "");
  assert.equal(percent(1, 4), "25 %");
  assert.equal(percent(1, 10_000), "< 0.1 %");
  assert.equal(percent(0, 10_000), "0.0 %");
});

test("a name that would turn the text around, or is endless", () => {
  assert.equal(shown("a\u202eb\u0000c"), "a\ufffdb\ufffdc");
  assert.ok(shown("x".repeat(1_000_000), 100).length <= 101);
});

test("what was chosen stands in the address, and nonsense there does nothing", () => {
  const chosen = { history: 1, event: 42, from: 7, colour: "line" as const, view: "blocks" };
  assert.deepEqual(fromHash(`#${toHash(chosen)}`, 2), chosen);
  assert.deepEqual(fromHash("#device=9&event=-1&colour=red&from=x", 2),
                   { history: 0, event: null, from: null, colour: "category", view: null });
});

test("changes and answers are called what the analyzer calls them", () => {
  const named = {
    advice_words: { mixed_precision: "mixed precision", add_empty_cache: "empty_cache() where it helps" },
    shapes: { stepwise: "grows by jumps", steady: "steady" },
  };
  assert.equal(adviceHeading(named, "mixed_precision"), "Mixed precision");
  assert.equal(adviceHeading(named, "add_empty_cache"), "empty_cache() where it helps");
  assert.equal(adviceWords(named, "not_known_yet"), "not known yet");
  const verdict = { answer: "accumulates", bound: null, doubt: null, shape: "stepwise" } as unknown as Verdict;
  assert.equal(answerWords(named, verdict), "grows by jumps");
  assert.equal(answerWords(named, { ...verdict, answer: "not_settled", shape: "unknown" }), "not settled");
  const bound = { kind: "length" as const, file: "/home/me/buffer.py", line: 13, expression: "len(self.items) < 50", value: 50, reached_in_steps: null };
  assert.equal(answerWords(named, { ...verdict, answer: "bounded", bound }), "bounded by buffer.py:13 at 50");
  assert.equal(answerWords(named, { ...verdict, answer: "bounded", bound: { ...bound, kind: "container", file: null, value: 0 } }), "bounded by itself");
  assert.equal(answerWords(named, { ...verdict, answer: "bounded", bound: { ...bound, kind: "episode", expression: "evaluation" } }),
               "bounded by the end of evaluation");
});

test("a call site is called by its line", () => {
  const frames = [{ file: "/x/torch/linear.py", line: 134, function: "forward", user: false }, { file: "/x/evaluate.py", line: 11, function: "main", user: true }];
  const verdict = { summary: "call site 1 accumulates 8 KiB a step", culprits: [{ frames }] } as unknown as Verdict;
  assert.equal(summaryOf(verdict), "evaluate.py:11: 8 KiB a step");
  assert.equal(summaryOf({ ...verdict, summary: "call site 6 grows by jumps" }), "evaluate.py:11 grows by jumps");
  assert.equal(summaryOf({ ...verdict, summary: "GPU 0 is steady", culprits: [] }), "GPU 0 is steady");
});

test("a view in the address is a name and nothing else", () => {
  assert.equal(fromHash("#view=icicle", 1).view, "icicle");
  for (const bad of ["#view=", "#view=a%5Bb%5D", "#view=%3Cscript%3E", `#view=${"a".repeat(500)}`]) assert.equal(fromHash(bad, 1).view, null);
});
