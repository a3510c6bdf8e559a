// SPDX-License-Identifier: Apache-2.0
// Makes dist/page.html: one file with its script and its style, which the command fills in. The same
// sources give the same bytes.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, existsSync, writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");

const bundled = await build({
  absWorkingDir: here, entryPoints: ["src/main.tsx"], bundle: true, minify: true, write: false,
  format: "iife", target: ["es2022"], jsx: "automatic", jsxImportSource: "preact",
  legalComments: "none", charset: "utf8", metafile: true,
});
const styled = await build({
  absWorkingDir: here, entryPoints: ["src/style.css"], bundle: true, minify: true, write: false, charset: "utf8",
});
const script = bundled.outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
const style = styled.outputFiles[0].text.trim();
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const page = readFileSync(join(here, "src/page.html"), "utf8")
  .replace("@script-hash@", () => hash(script)).replace("@style-hash@", () => hash(style))
  .replace("@style@", () => style).replace("@script@", () => script);
for (const token of ["title", "connect", "facts", "columns"]) {
  if (page.split(`@memtrace-${token}@`).length !== 2) throw new Error(`@memtrace-${token}@ must occur once`);
}

// The terms of each package whose code is in the bundle.
const packages = new Set();
for (const input of [...Object.keys(bundled.metafile.inputs), "node_modules/uplot/x"]) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) packages.add(found[1]);
}
const licences = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const version = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const terms = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim() : "";
  if (terms === "") throw new Error(`${name} has no licence file`);
  return `${name} ${version}\n\n${terms}\n`;
});
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "page.html"), page);
writeFileSync(join(out, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
console.log(`page.html ${page.length} bytes; ${[...packages].join(", ")}`);
