// SPDX-License-Identifier: Apache-2.0
// One device over the whole run: who held what at any moment. Sums only; what a block is was decided
// by the command.
import type { Columns, Numbers } from "./columns";
import type { Facts, HistoryFacts } from "./facts";

export interface Place { file: string; line: number; function: string; user: boolean }

export class Stacks {
  private readonly parents: Numbers;
  private readonly frameOf: Numbers;

  constructor(private readonly facts: Facts, private readonly columns: Columns) {
    this.parents = columns.get("stacks/parent");
    this.frameOf = columns.get("stacks/frame");
  }

  parent(node: number): number { return this.parents[node] ?? 0; }
  frame(node: number): number { return this.frameOf[node] ?? 0; }
  place(frame: number): Place {
    const text = (column: string) => this.facts.texts[this.columns.get(column)[frame] ?? 0] ?? "";
    return { file: text("frames/file"), function: text("frames/function"),
             line: this.columns.get("frames/line")[frame] ?? 0,
             user: this.columns.get("frames/user")[frame] === 1 };
  }
  /** Innermost first. */
  places(node: number): Place[] {
    const made: Place[] = [];
    for (let here = node; here !== 0; here = this.parent(here)) made.push(this.place(this.frame(here)));
    return made;
  }
  /** The innermost line of the user's own code; else of any. */
  line(node: number): Place | null {
    let first: Place | null = null;
    for (let here = node; here !== 0; here = this.parent(here)) {
      const place = this.place(this.frame(here));
      if (place.user) return place;
      first ??= place;
    }
    return first;
  }
}

export class History {
  constructor(readonly facts: HistoryFacts, readonly number: number, readonly page: Facts,
              private readonly columns: Columns, readonly stacks: Stacks) {}

  timeline(name: string): Numbers { return this.columns.get(`${this.number}/timeline/${name}`); }
  block(name: string): Numbers { return this.columns.get(`${this.number}/blocks/${name}`); }
  column(name: string): Numbers { return this.columns.get(`${this.number}/${name}`); }

  get points(): number { return this.facts.timeline.points; }

  /** The point at or before an event; the first one before all of them. */
  pointAt(event: number): number {
    return Math.max(0, lastAtOrBefore(this.timeline("event"), event));
  }
  pointAtTime(ns: number): number {
    const times = this.timeline("time_ns");
    const before = Math.max(0, lastAtOrBefore(times, ns));
    const after = Math.min(before + 1, times.length - 1);
    return Math.abs(times[after]! - ns) < Math.abs(ns - times[before]!) ? after : before;
  }
  highest(): number {
    const allocated = this.timeline("allocated");
    let best = 0;
    for (let i = 1; i < allocated.length; ++i) if (allocated[i]! > allocated[best]!) best = i;
    return best;
  }

  /** Numbers of the kept blocks that lived right after an event. */
  aliveAt(event: number): number[] {
    const born = this.block("born_event");
    const died = this.block("died_event");
    const found: number[] = [];
    const end = lastAtOrBefore(born, event);
    for (let i = 0; i <= end; ++i) if (died[i]! > event) found.push(i);
    return found;
  }

  moduleName(row: number): string {
    const module = this.facts.modules[row];
    if (!module || row === 0) return "";
    return module.path ? `${module.root}.${module.path}` : module.root ?? "";
  }
}

/** The last index of ascending values whose value is at most `value`; -1: none. */
export function lastAtOrBefore(values: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
}
