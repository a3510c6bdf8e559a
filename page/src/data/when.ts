// SPDX-License-Identifier: Apache-2.0
// In which phase and step of the program a moment was.
import type { History } from "./history";

/** The innermost phase at a time: the shortest that holds it; empty: none. */
export function phaseAt(history: History, ns: number): string {
  const begin = history.column("phases/begin_ns");
  const end = history.column("phases/end_ns");
  let best = -1;
  for (let i = 0; i < begin.length; ++i) {
    if (begin[i]! > ns || end[i]! < ns) continue;
    if (best < 0 || end[i]! - begin[i]! < end[best]! - begin[best]!) best = i;
  }
  return best < 0 ? "" : history.page.texts[history.column("phases/name")[best]!] ?? "";
}

/** The number of the step that an event belongs to; null where steps are thinned, or after the last one. */
export function stepAt(history: History, event: number): number | null {
  const { count, shown } = history.facts.steps;
  if (count !== shown) return null;
  const ends = history.column("steps/end_event");
  for (let i = 0; i < ends.length; ++i) if (ends[i]! >= event) return history.column("steps/number")[i]!;
  return null;
}

/** Names of phases in the order in which they first begin. */
export function phaseNames(history: History): string[] {
  const begin = history.column("phases/begin_ns");
  const name = history.column("phases/name");
  const order = Array.from(begin, (_one, i) => i).sort((one, other) => begin[one]! - begin[other]!);
  return [...new Set(order.map((i) => history.page.texts[name[i]!] ?? ""))].filter((one) => one !== "");
}
