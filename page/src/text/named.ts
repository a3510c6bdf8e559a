// SPDX-License-Identifier: Apache-2.0
// The analyzer's own words for changes and for shapes of series, which come with the page's facts.
import type { Facts } from "../data/facts";
import type { Verdict } from "../data/report";
import { baseName, count, shown, words } from "./units";

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

/** The answer of a verdict for a heading: "accumulates", "bounded by buffer.py:13 at 50", "not settled"; how it looks otherwise. */
export function answerWords(named: Named, verdict: Verdict): string {
  const { answer, bound, shape } = verdict;
  if (answer === "not_settled") return "not settled";
  if (answer !== "bounded" || bound === null) return named.shapes?.[shape] ?? words(shape);
  if (bound.kind === "loop") return `bounded by the end of a loop over ${shown(bound.expression, 60)}`;
  if (bound.kind === "episode") return `bounded by the end of ${shown(bound.expression, 60)}`;
  const place = bound.file === null ? "itself" : `${shown(baseName(bound.file), 60)}:${bound.line}`;
  if (bound.kind === "counted") return `bounded by ${place} at a count of ${count(bound.value)}`;
  return `bounded by ${place}${bound.value === 0 ? "" : ` at ${count(bound.value)}`}`;
}

/** "evaluate.py:11": where most of what grows was made; a number of a call site means nothing to readers. */
export function lineOf({ culprits }: Verdict): string {
  const frames = culprits[0]?.frames ?? [];
  const line = frames.find((one) => one.user) ?? frames[0];
  return line ? `${shown(baseName(line.file), 60)}:${line.line}` : "one line";
}

/** "evaluate.py:11: 8 KiB a step", where the report says "call site 1 accumulates 8 KiB a step". */
export function summaryOf(verdict: Verdict): string {
  return shown(verdict.summary.replace(/^call site \d+( accumulates)?/,
    (_all, grows?: string) => `${lineOf(verdict)}${grows ? ":" : ""}`), 800);
}
