// SPDX-License-Identifier: Apache-2.0
// Fills dist/page.html with what another page was filled with, to look at a change on a real trace:
//   node fill.mjs REPORT.html NEW.html
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [from, to] = process.argv.slice(2);
if (!from || !to) {
  console.error("fill.mjs takes a page that memtrace wrote, and the name of the one to write");
  process.exit(2);
}
const filled = readFileSync(from, "utf8");
const part = (pattern) => {
  const found = pattern.exec(filled);
  if (!found) throw new Error(`${from} is no page of memtrace: it lacks ${pattern}`);
  return found[1];
};
const parts = {
  title: part(/<title>(.*?)<\/title>/s), connect: "'none'",
  facts: part(/id="memtrace-facts">(.*?)<\/script>/s), columns: part(/id="memtrace-columns">(.*?)<\/script>/s),
};
// All at once: a name of the traced program may look like one of these.
const page = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "dist/page.html"), "utf8")
  .replace(/@memtrace-(title|connect|facts|columns)@/g, (_whole, token) => parts[token]);
writeFileSync(to, page);
