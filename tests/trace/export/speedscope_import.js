// SPDX-License-Identifier: Apache-2.0
//
// Reads a file with speedscope's own code and prints, as JSON, what came of it: of each profile its
// name, unit, total weight, and the weights of the outermost frames.
//
// Usage: node speedscope_import.js FOLDER FILE      FOLDER: of the npm package speedscope
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, file] = process.argv.slice(2);
const release = path.join(folder, "dist", "release");
const bundle = fs.readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name));
let source = fs.readFileSync(path.join(release, bundle), "utf8");

// The page's script gives its importer to nobody: it is taken where it is made.
const importer = /async function (\w+)\(\w+,\w+\)\{return\(await \w+\)\.importProfileGroupFromText\(/;
const found = importer.exec(source);
if (!found) throw new Error("speedscope has its importer elsewhere");
source = `${source.slice(0, found.index)}globalThis.importText = ${found[1]};${source.slice(found.index)}`;

// There is no page here: whatever is asked of it is there, and does nothing.
const nothing = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => "" : nothing),
  set: () => true,
  apply: () => nothing,
  construct: () => nothing,
});
const page = {window: nothing, document: nothing, localStorage: nothing, location: nothing, navigator: nothing,
  matchMedia: nothing, requestAnimationFrame: nothing, alert: nothing};
const names = Object.keys(page);
try {
  vm.runInThisContext(`(function(${names}) {${source}\n})`)(...names.map((name) => page[name]));
} catch (error) {
  // Of drawing the page; the importer was made before.
}

async function main() {
  const group = await globalThis.importText(path.basename(file), fs.readFileSync(file, "utf8"));
  const profiles = group.profiles.map((profile) => {
    const outermost = {};
    for (const child of profile.getGroupedCalltreeRoot().children) {
      outermost[child.frame.name] = child.getTotalWeight();
    }
    return {name: profile.getName(), unit: profile.formatValue(1024), total: profile.getTotalWeight(),
      outermost};
  });
  console.log(JSON.stringify({name: group.name, profiles}));
}

process.on("unhandledRejection", () => {});
main().catch((error) => {
  console.error(String(error).slice(0, 500));
  process.exit(1);
});
