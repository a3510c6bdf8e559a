// SPDX-License-Identifier: Apache-2.0
// The GPU at the moment when a request failed: its parts, and why what was left did not do.
import type { Oom } from "../data/report";
import { words } from "../text/units";
import { categoryColour, partColour } from "./colours";

export interface Piece { name: string; key: string; bytes: number; colour: string; within: "allocated" | null }

/** What PyTorch had reserved beyond what was allocated, or what replays of CUDA graphs need. */
export function unusedOf(oom: Oom): number {
  return Math.max(0, oom.reserved_bytes - oom.allocated_bytes - oom.graph_pool_bytes);
}

/** Where the bar ends: what the GPU has, or what the process may have of it. */
export function wholeOf(oom: Oom): number {
  return Math.max(1, oom.capacity_bytes ?? 0, oom.reserved_bytes + oom.free_bytes);
}

/** What was allocated, by category; one piece where the lines do not say it. */
function allocatedOf(oom: Oom): Piece[] {
  const sums = new Map<string, number>();
  for (const one of oom.holders) sums.set(one.category, (sums.get(one.category) ?? 0) + one.bytes);
  const known = [...sums.values()].reduce((sum, one) => sum + one, 0);
  if (known === 0 || known > oom.allocated_bytes) {
    return [{ name: "allocated by PyTorch", key: "oom:allocated", bytes: oom.allocated_bytes, colour: categoryColour("unknown"), within: null }];
  }
  const made: Piece[] = [...sums].sort((one, other) => other[1] - one[1]).map(([category, bytes]) => (
    { name: words(category), key: `oom:category:${category}`, bytes, colour: categoryColour(category), within: "allocated" }));
  if (known < oom.allocated_bytes) {
    made.push({ name: "of no known line", key: "oom:no_line", bytes: oom.allocated_bytes - known, colour: categoryColour("unknown"), within: "allocated" });
  }
  return made;
}

/** From left to right; what is free comes last, as the request would begin there. */
export function piecesOf(oom: Oom): Piece[] {
  const outside = oom.capacity_bytes === null ? 0 : oom.capacity_bytes - oom.reserved_bytes - oom.free_bytes;
  return [
    ...(outside > 0 ? [{ name: "outside of PyTorch", key: "oom:outside", bytes: outside, colour: partColour("context"), within: null }] : []),
    ...allocatedOf(oom),
    ...(oom.graph_pool_bytes > 0 ? [{ name: "what replays of CUDA graphs need", key: "oom:graph_pool", bytes: oom.graph_pool_bytes, colour: partColour("graph_pool"), within: null }] : []),
    { name: oom.graph_pool_bytes > 0 ? "reserved, not in use" : "reserved, not allocated", key: "oom:unused", bytes: unusedOf(oom), colour: partColour("cached"), within: null },
    { name: "free", key: "oom:free", bytes: oom.free_bytes, colour: partColour("free"), within: null },
  ];
}

/** Shares of a bar: what is there at all is as wide as its `least`, at the cost of what is wider. */
export function sharesOf(sizes: number[], least: number[]): number[] {
  const whole = sizes.reduce((sum, one) => sum + one, 0);
  if (whole <= 0) return sizes.map(() => 0);
  const isSmall = sizes.map((one, i) => one > 0 && one / whole < least[i]!);
  const left = 1 - least.reduce((sum, one, i) => sum + (isSmall[i] ? one : 0), 0);
  const large = sizes.reduce((sum, one, i) => sum + (isSmall[i] ? 0 : one), 0);
  if (left <= 0 || large <= 0) return sizes.map((one) => one / whole);
  return sizes.map((one, i) => (isSmall[i] ? least[i]! : left * one / large));
}

// Of the bar's width: a few pixels each. The request is what the picture is about: it is seen on a phone too.
const LEAST_PIECE = 0.003;
const LEAST_FREE = 0.006;
const LEAST_BEYOND = 0.012;

export interface Drawn { pieces: number[]; before: number; inside: number; over: number }

/** The bar, and below it the request, which begins where the free memory does: all in shares of the same width. */
export function drawn(oom: Oom, pieces: Piece[]): Drawn {
  const beyond = Math.max(0, oom.requested_bytes - oom.free_bytes);
  const shares = sharesOf([...pieces.map((one) => one.bytes), beyond],
    [...pieces.map((one) => (one.key === "oom:free" ? LEAST_FREE : LEAST_PIECE)), LEAST_BEYOND]);
  const over = shares.pop()!;
  const free = shares[shares.length - 1]!;
  const inside = oom.requested_bytes < oom.free_bytes ? free * oom.requested_bytes / oom.free_bytes : free;
  return { pieces: shares, before: 1 - over - free, inside, over };
}

export type Why = "too_little" | "pieces" | "kept_apart" | "refused";

/** Why it did not fit: too little; enough, in pieces; enough, with what only graphs or other streams may use; enough in one piece. */
export function whyOf(oom: Oom): Why {
  if (oom.free_bytes >= oom.requested_bytes) return "refused";
  if (oom.free_bytes + unusedOf(oom) < oom.requested_bytes) return "too_little";
  const apart = oom.unused.private_pools_bytes + oom.unused.pending_free_bytes;
  return oom.free_bytes + unusedOf(oom) - apart >= oom.requested_bytes ? "pieces" : "kept_apart";
}
