// SPDX-License-Identifier: Apache-2.0
// The facts that the command writes into the page: README.md.
import type { Diff } from "./diff";
import type { Report } from "./report";

export interface ColumnPlace {
  name: string; type: "u8" | "u16" | "u32" | "f64"; count: number; offset: number; delta: boolean;
  base: number; scale: number;
}
export interface ModuleRow { root: string | null; path: string | null; type: string | null; parent: number | null }
export interface Mark {
  kind: "out_of_memory" | "retry" | "empty_cache" | "census" | "gap"; time_ns: number; event: number | null;
  bytes: number | null; text: string;
}
export interface HistoryFacts {
  device: number; pid: number; rank: number | null; duration_ns: number; events: number;
  modules: ModuleRow[]; streams: (number | string)[];
  timeline: { points: number; categories: string[] };
  blocks: { kept: number; recorded: number; left_out: number; left_out_byte_ns: number };
  steps: { count: number; shown: number; unit: string };
  marks: Mark[]; marks_left_out: number;
}
export interface Facts {
  schema: string; memtrace: string; kind: "report" | "diff"; made_ns: number;
  report?: Report; diff?: Diff;
  /** With a report: the changes that it names, and all shapes of a series, in words. */
  advice_words?: Record<string, string>; shapes?: Record<string, string>;
  columns: { bytes: number; list: ColumnPlace[] };
  texts: string[]; categories: string[]; evidence: string[]; phases: string[];
  sources: Record<string, Record<string, string>>; scrubbed: boolean;
  /** The number of a page that memtrace live serves. */
  served?: number | null;
  histories: HistoryFacts[];
}
