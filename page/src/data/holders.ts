// SPDX-License-Identifier: Apache-2.0
// Who held a moment's memory, as rows of a table: the kept blocks by line, module, name or category. Rows and what the
// page leaves out add up to what was allocated, to the byte.
import type { History, Place } from "./history";
import { largestOf } from "./moment";
import { insideTorch } from "./plumbing";

/** `line`: the user's own; `outside`: the innermost outside of PyTorch, which may be a library's. */
export type Dimension = "line" | "outside" | "module" | "name" | "category";
export const COLUMNS = ["name", "bytes", "share", "blocks", "category", "change"] as const;
export type Column = (typeof COLUMNS)[number];

export interface Holder {
  /** As it is shown; empty: the blocks that have no line, module or name. */
  name: string;
  /** The whole of it, where the name is short: the path of a file. */
  detail: string;
  bytes: number; blocks: number; before: number;
  /** Names of categories, the one with most bytes first. */
  categories: string[];
}
export interface Sum { bytes: number; blocks: number; before: number }
export interface Order { column: Column; down: boolean }

interface Growing extends Sum { name: string; detail: string; sums: Float64Array; gone: Float64Array }

/** Of each block the key of its row, and the words for a key. */
interface Keys { of: (block: number) => string | number; words: (block: number) => [name: string, detail: string] }

function keysOf(history: History, by: Dimension): Keys {
  const [module, name, category] = [history.block("module"), history.block("name"), history.block("category")];
  switch (by) {
    case "module": return { of: (block) => module[block]!, words: (block) => {
      const row = history.facts.modules[module[block]!];
      const path = history.moduleName(module[block]!);
      return [path, path && row?.type ? `${path} (${row.type})` : path];
    } };
    case "name": return { of: (block) => name[block]!, words: (block) => {
      const text = history.page.texts[name[block]!] ?? "";
      return [text, text];
    } };
    case "category": return { of: (block) => category[block]!, words: (block) => {
      const text = history.page.categories[category[block]!] ?? "unknown";
      return [text, text];
    } };
    case "line": return lineKeys(history, (node) => history.stacks.line(node));
    case "outside": return lineKeys(history, (node) => {
      const places = history.stacks.places(node);
      return places.find((one) => one.user || insideTorch(one.file) === "") ?? places[0] ?? null;
    });
  }
}

/** By the place of a stack. The backward pass runs without Python: what it makes is named after the forward line that it belongs to. */
function lineKeys(history: History, placeOf: (node: number) => Place | null): Keys {
  const [stack, forward] = [history.block("stack"), history.block("forward")];
  const known = new Map<string, [key: string, name: string, detail: string]>();
  const made = (block: number): [key: string, name: string, detail: string] => {
    const own = placeOf(stack[block]!);
    const place = own ?? placeOf(forward[block] ?? 0);
    if (!place) return ["", "", ""];
    const at = `${place.file}:${place.line}`;
    const of = own ? "" : "backward of ";
    return [of + at, `${of}${at.slice(at.lastIndexOf("/") + 1)} ${place.function}`, `${of}${at} in ${place.function}`];
  };
  const of = (block: number) => {
    const id = `${stack[block]} ${forward[block]}`;
    let found = known.get(id);
    if (!found) known.set(id, found = made(block));
    return found;
  };
  return { of: (block) => of(block)[0], words: (block) => [of(block)[1], of(block)[2]] };
}

/** By which the rows can be made: only by what any block of the page has. */
export function dimensionsOf(history: History): Dimension[] {
  const has = (column: string, words: (value: number) => string) =>
    [...new Set<number>(history.block(column))].some((one) => words(one) !== "");
  return [
    "outside", "line",
    ...(has("module", (one) => history.moduleName(one)) ? ["module" as const] : []),
    ...(has("name", (one) => history.page.texts[one] ?? "") ? ["name" as const] : []),
    "category",
  ];
}

/** The rows of a moment, most bytes first; `from`: the moment that `before` is of. */
export function holdersOf(history: History, event: number, from: number | null, by: Dimension): Holder[] {
  const rows = new Map<string | number, Growing>();
  const size = history.block("bytes");
  const category = history.block("category");
  const keys = keysOf(history, by);
  const rowOf = (block: number) => {
    const key = keys.of(block);
    let row = rows.get(key);
    if (!row) {
      const [name, detail] = keys.words(block);
      const none = () => new Float64Array(history.page.categories.length);
      row = { name, detail, bytes: 0, blocks: 0, before: 0, sums: none(), gone: none() };
      rows.set(key, row);
    }
    return row;
  };
  for (const block of history.aliveAt(event)) {
    const row = rowOf(block);
    row.bytes += size[block]!;
    ++row.blocks;
    row.sums[category[block]!]! += size[block]!;
  }
  for (const block of from === null ? [] : history.aliveAt(from)) {
    const row = rowOf(block);
    row.before += size[block]!;
    row.gone[category[block]!]! += size[block]!;
  }
  // A row of which nothing is left has the categories that it had.
  return [...rows.values()]
    .map(({ sums, gone, ...row }) => ({ ...row, categories: namesOf(history, row.bytes > 0 ? sums : gone) }))
    .sort((one, other) => other.bytes - one.bytes || other.before - one.before);
}

function namesOf(history: History, sums: Float64Array): string[] {
  const names: string[] = [];
  const rest = Float64Array.from(sums);
  for (let best = largestOf(rest); best >= 0; best = largestOf(rest)) {
    names.push(history.page.categories[best] ?? "unknown");
    rest[best] = 0;
  }
  return names;
}

export function sumOf(rows: Sum[]): Sum {
  const sum = { bytes: 0, blocks: 0, before: 0 };
  for (const one of rows) {
    sum.bytes += one.bytes;
    sum.blocks += one.blocks;
    sum.before += one.before;
  }
  return sum;
}

/** Rows whose name, path or category holds the text; `none`: what a row without a name is called. */
export function filtered(rows: Holder[], wanted: string, none: string): Holder[] {
  const text = wanted.trim().toLowerCase();
  if (text === "") return rows;
  return rows.filter((one) => [one.name || none, one.detail, ...one.categories.map((name) => name.replaceAll("_", " "))]
    .some((words) => words.toLowerCase().includes(text)));
}

/** In the order of a column; rows that are alike in it stay as they were, also downwards. */
export function ordered(rows: Holder[], { column, down }: Order): Holder[] {
  const number = (one: Holder) => (column === "blocks" ? one.blocks : column === "change" ? one.bytes - one.before : one.bytes);
  const text = (one: Holder) => (column === "category" ? one.categories[0] ?? "" : one.name);
  const compare = column === "name" || column === "category"
    ? (one: Holder, other: Holder) => text(one).localeCompare(text(other), "en", { numeric: true })
    : (one: Holder, other: Holder) => number(one) - number(other);
  return [...rows].sort((one, other) => (down ? compare(other, one) : compare(one, other)));
}

function quoted(field: string | number): string {
  const text = String(field);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text;
}

/** The rows as comma-separated values (RFC 4180): bytes as whole numbers, shares of `whole` between 0 and 1. */
export function csvOf(rows: Holder[], by: Dimension, whole: number, compared: boolean): string {
  const more = (categories: string, change: string | number) =>
    [...(by === "category" ? [] : [categories]), ...(compared ? [change] : [])];
  const head = [by === "outside" ? "line" : by, "bytes", "share", "blocks", ...more("categories", "change_bytes")];
  const lines = rows.map((one) => [
    one.detail, one.bytes, whole > 0 ? Number((one.bytes / whole).toFixed(6)) : 0, one.blocks,
    ...more(one.categories.join(" "), one.bytes - one.before)]);
  return [head, ...lines].map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}
