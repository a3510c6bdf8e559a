// SPDX-License-Identifier: Apache-2.0
// The kept blocks of a moment, and what differs between two moments.
import type { History } from "./history";

export interface Weighed { blocks: number[]; weigh: (block: number) => number }

/** The blocks of the moment; with `from` those that came since then, and those that went, whose bytes count against it. */
export function weighed(history: History, event: number, from: number | null): Weighed {
  const size = history.block("bytes");
  const now = history.aliveAt(event);
  if (from === null) return { blocks: now, weigh: (block) => size[block]! };
  const before = new Set(history.aliveAt(from));
  const after = new Set(now);
  const blocks = [...now.filter((one) => !before.has(one)), ...[...before].filter((one) => !after.has(one))];
  return { blocks, weigh: (block) => (after.has(block) ? size[block]! : -size[block]!) };
}

/** Of bytes by the number of a category: the one with most; -1: none has any. */
export function largestOf(sums: ArrayLike<number>): number {
  let best = -1;
  for (let i = 0; i < sums.length; ++i) if (sums[i]! > (best < 0 ? 0 : sums[best]!)) best = i;
  return best;
}
