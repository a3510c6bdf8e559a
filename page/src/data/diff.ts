// SPDX-License-Identifier: Apache-2.0
// Made by scripts/page_types from analyzer/show/diff/diff.schema.json.

export type Bytes = number;
export interface Run {
  traces: string[];
  headline: string;
  command: string[];
  pid: number;
  host: string | null;
  started_ns: number;
  duration_ns: number;
  simulated: boolean;
  devices: number;
  clean_exit: boolean;
  ended: string;
  habits: {
    id: string;
    title: string;
    evidence: string;
    change: string;
    times: number;
    ns: number;
  }[];
}
export interface Series {
  boundary: string | null;
  steps: number;
  stride: number;
  left_bytes: Bytes[];
  peak_bytes: Bytes[];
}
export interface Side {
  pid: number;
  rank: number | null;
  index: number;
  name: string | null;
  capacity_bytes: number | null;
  peak_allocated_bytes: Bytes;
  peak_reserved_bytes: number | null;
  steps: number;
  step_ns: number | null;
  out_of_memory_ns: number | null;
  series: Series;
}
export interface Verdict {
  answer: "accumulates" | "bounded" | "not_settled" | "steady";
  shape: "unknown" | "accumulating" | "stepwise" | "sawtooth" | "sawtooth_leak" | "bounded_records" | "warmup_plateau" | "steady";
  unit: string;
  bytes_per_step: number | null;
  confidence: number | null;
  negligible: boolean;
  steps_to_oom: number | null;
  time_to_oom_ns: number | null;
  summary: string;
}
export interface Pair {
  before: Side | null;
  after: Side | null;
  verdicts: {
    subject: string;
    before: Verdict | null;
    after: Verdict | null;
  }[];
  growing: {
    name: string;
    name_before: string | null;
    kept_by: string | null;
    before_bytes_per_step: number;
    after_bytes_per_step: number;
  }[];
  categories: {
    name: string;
    before_bytes: Bytes;
    after_bytes: Bytes;
    difference_bytes: number;
  }[];
  modules: {
    name: string;
    before_bytes: Bytes;
    after_bytes: Bytes;
    difference_bytes: number;
  }[];
  lines: {
    name: string;
    before_bytes: Bytes;
    after_bytes: Bytes;
    difference_bytes: number;
    category: string;
    name_before: string | null;
  }[];
  advice_no_longer_given: { id: string; predicted_bytes: number }[];
}
export interface Diff {
  schema: "memtrace-diff/1";
  before: Run;
  after: Run;
  not_comparable: string[];
  configuration: {
    group: "command" | "version" | "gpu" | "allocator" | "environment" | "training" | "recording";
    name: string;
    before: string | null;
    after: string | null;
  }[];
  devices: Pair[];
}
