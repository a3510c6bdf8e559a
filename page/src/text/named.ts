// SPDX-License-Identifier: Apache-2.0
// The analyzer's own words for changes and for shapes of series, which come with the page's facts.
import type { Facts } from "../data/facts";
import { words } from "./units";

export type Named = Pick<Facts, "advice_words" | "shapes">;

/** The words for a change, for the middle of a sentence. */
export function adviceWords(named: Named, id: string): string {
  return named.advice_words?.[id] ?? words(id);
}

/** The same as a heading; a name of the program keeps its first letter. */
export function adviceHeading(named: Named, id: string): string {
  const found = adviceWords(named, id);
  return /[_(]/.test(found.split(" ")[0]!) ? found : found[0]!.toUpperCase() + found.slice(1);
}

export function shapeWords(named: Named, shape: string): string {
  return named.shapes?.[shape]?.words ?? words(shape);
}

/** Whether a series of that shape accumulates. */
export function isLeak(named: Named, shape: string): boolean {
  return named.shapes?.[shape]?.is_leak ?? false;
}
