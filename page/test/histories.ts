// SPDX-License-Identifier: Apache-2.0
// A history of a few blocks for tests.
import { Columns } from "../src/data/columns";
import type { ColumnPlace, Facts, HistoryFacts } from "../src/data/facts";
import { History, Stacks } from "../src/data/history";

export function historyOf(columns: Record<string, number[]>, facts: Partial<Facts>, own: Partial<HistoryFacts> = {}): History {
  const list: ColumnPlace[] = [];
  const values: number[] = [];
  for (const [name, numbers] of Object.entries(columns)) {
    list.push({ name, type: "f64", count: numbers.length, offset: 8 * values.length, delta: false, base: 0, scale: 1 });
    values.push(...numbers);
  }
  const read = new Columns(Float64Array.from(values).buffer, list);
  const page = { texts: [""], categories: [], ...facts } as Facts;
  return new History({ events: 100, modules: [], ...own } as HistoryFacts, 0, page, read, new Stacks(page, read));
}
