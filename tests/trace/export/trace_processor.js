// SPDX-License-Identifier: Apache-2.0
//
// Perfetto's own trace processor, as its user interface runs it (WebAssembly), without a browser.
// Reads requests from standard input and writes the replies to standard output, both as the engine
// has them: a stream of TraceProcessorRpc messages.
//
// Usage: node trace_processor.js FOLDER      with engine_bundle.js and trace_processor.wasm
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");

const folder = process.argv[2];

// Without the engine's source, which is one line.
process.on("uncaughtException", (error) => {
  console.error(String(error.stack).split("\n").map((line) => line.slice(0, 300)).join("\n").slice(-3000));
  process.exit(1);
});

// A worker of a browser, as far as the engine looks.
class FileRequest {
  open(method, url) {
    this.url = url;
  }
  send() {
    this.response = fs.readFileSync(fileOf(this.url)).buffer;
  }
}

function fileOf(url) {
  return path.join(folder, path.basename(url.toString()));
}

async function fetchFile(url) {
  const body = fs.readFileSync(fileOf(url));
  return new Response(body, {status: 200, headers: {"Content-Type": "application/wasm"}});
}

const location = {href: "http://localhost/engine_bundle.js", protocol: "http:", host: "localhost"};
const worker = {location};
const globals = {
  self: worker,
  location,
  console: {log() {}, warn() {}, error: console.error},  // warn: how far loading is
  XMLHttpRequest: FileRequest,
  fetch: fetchFile,
  WorkerGlobalScope: class {},
  process: undefined,  // this is no node, either
};
const source = fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8");
vm.runInThisContext(`(function(${Object.keys(globals)}) {${source}\n})`)(...Object.values(globals));

const port = {
  onmessage: null,
  postMessage(reply) {
    fs.writeSync(1, reply);
  },
};

async function main() {
  worker.onmessage({data: port});
  // Until the engine is ready it has no connection, and does not say when that is.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  for await (const chunk of process.stdin) port.onmessage({data: new Uint8Array(chunk)});
}

main();
