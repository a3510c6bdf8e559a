// SPDX-License-Identifier: Apache-2.0
// Compiles each test beside this file and runs all of them with Node's own test runner.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(here, ".built-"));
try {
  const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
  await build({ absWorkingDir: here, entryPoints: tests, bundle: true, platform: "node", format: "esm",
                outdir: out, outExtension: { ".js": ".mjs" }, jsx: "automatic", jsxImportSource: "preact", loader: { ".css": "empty" } });
  const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  process.exitCode = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
