// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { codeIn } from "../src/text/code";

const code = (text: string) => codeIn(text).filter((one) => one.isCode).map((one) => one.text);

test("code between backticks, and a backtick without a partner", () => {
  assert.deepEqual(code("Move it (`.cpu()`), or `del` it."), [".cpu()", "del"]);
  assert.deepEqual(codeIn("a ` b"), [{ text: "a ` b", isCode: false }]);
  assert.equal(codeIn("keep `x` and ` y").map((one) => one.text).join(""), "keep x and ` y");
});

test("code in sentences without backticks", () => {
  assert.deepEqual(code("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts"),
    ["PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"]);
  assert.deepEqual(code("torch.utils.checkpoint.checkpoint(module, …, use_reentrant=False) instead of module(…) for each Block at train.py:49 forward"),
    ["torch.utils.checkpoint.checkpoint(module, …, use_reentrant=False)", "module(…)"]);
  assert.deepEqual(code("batch size divided by 2 (now --batch 16); if this is training, (loss / 2).backward() for each, then optimizer.step() once"),
    ["--batch 16", "(loss / 2).backward()", "optimizer.step()"]);
  assert.deepEqual(code('with torch.autocast("cuda", dtype=torch.bfloat16): around forward'), ['with torch.autocast("cuda", dtype=torch.bfloat16):']);
  assert.deepEqual(code("at oom.py:42 <module>: for h, t in zip(a.chunk(8), b): loss = loss + checkpoint(lambda h, t: f(h), h, t), divided by (t != 1).sum() at the end"),
    ["for h, t in zip(a.chunk(8), b): loss = loss + checkpoint(lambda h, t: f(h), h, t)", "(t != 1).sum()"]);
});

test("words stay words, also with a bracket that nobody closes", () => {
  for (const text of ["late.py:31 main (781.25 MiB), late.py:30 main", "half the maximum length (max_length of the tokenizer)", "foo(bar, for"]) assert.deepEqual(code(text), []);
});

test("nothing is lost", () => {
  const text = "reduce the results, or move each (.cpu()) where a.py:31 makes it; then f(x).g()";
  assert.equal(codeIn(text).map((one) => one.text).join(""), text);
  assert.deepEqual(code(text), [".cpu()", "f(x).g()"]);
});
