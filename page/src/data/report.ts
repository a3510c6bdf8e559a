// SPDX-License-Identifier: Apache-2.0
// Of the report's JSON (analyzer/show/json/report.schema.json) what the page shows.

export type Bytes = number;
export interface Frame { file: string; line: number; function: string; user: boolean }
export interface CategoryRow { category: string; bytes: Bytes; blocks: number; evidence: string }
export interface CallSite {
  frames: Frame[]; thread: string | null; forward_frames: Frame[]; category: string; bytes: Bytes;
  blocks: number; sites: number;
}
export interface Memory {
  event: number; time_ns: number; allocated_bytes: Bytes; phase: string; step: number | null;
  categories: CategoryRow[]; call_sites: CallSite[];
}
export interface Part { part: string; bytes: Bytes; evidence: string }
export interface Device {
  index: number; pid: number; rank: number | null; host: string | null; name: string | null;
  capacity_bytes: Bytes | null; peak_allocated_bytes: Bytes; peak_allocated_event: number;
  peak_reserved_bytes: Bytes | null; at_peak: Memory; retries: number;
  outside_pool: { owner: string; bytes: Bytes; evidence: string }[];
  used: { event: number; used_bytes: Bytes; parts: Part[] } | null;
  unexplained_bytes: Bytes | null;
  phases: { phase: string; peak_allocated_bytes: Bytes; peak_event: number }[];
}
export interface Fix { id: string; cause: string; change: string; caution: string | null }
export interface Retained {
  path: string; bytes: Bytes; blocks: number; file: string | null; line: number; holder: string | null;
}
export interface Culprit {
  frames: Frame[]; forward: Frame[]; bytes_per_step: number; share: number; bytes: Bytes; category: string;
  phase: string; confidence: number; retained_by: Retained[]; fix: Fix | null;
}
export interface Verdict {
  subject: string; pid: number; shape: string; bytes_per_step: number | null;
  bytes_per_step_low: number | null; bytes_per_step_high: number | null; steps_to_oom: number | null;
  confidence: number | null; negligible: boolean; more_steps_needed: number; culprits: Culprit[];
  fix: Fix | null; summary: string; overturned_by: string | null;
  series: { unit: string; first: number; stride: number; bytes: Bytes[] };
}
export interface HeapSegment {
  address: number; bytes: Bytes; stream: number; private_pool: boolean; small: boolean; expandable: boolean;
  blocks: string;
}
export interface HeapMap {
  when: string; event: number; sites: string[]; merged: boolean; segments_left_out: number;
  bytes_left_out: Bytes; segments: HeapSegment[];
}
/** Bytes that were reserved and not allocated, by reason. */
export interface HeapMoment {
  event: number; reserved_bytes: Bytes; allocated_bytes: Bytes; unused_bytes: Bytes; unused: Record<string, Bytes>;
  request_bytes: Bytes | null; largest_free_block_bytes: Bytes | null;
}
export interface Fragmentation {
  device: number; pid: number; peak_reserved_bytes: Bytes; peak_allocated_bytes: Bytes;
  lower_bound_bytes: Bytes | null; cause: string | null; matters: boolean; summary: string | null;
  inexact: string | null; maps: HeapMap[];
  at_peak: HeapMoment | null; at_out_of_memory: HeapMoment | null;
  pinning_sites: { frames: Frame[]; bytes: Bytes; blocks: number; block_bytes: Bytes; category: string }[];
  blocked_requests: { count: number; largest: { event: number; bytes: Bytes; free_bytes: Bytes;
    largest_free_block_bytes: Bytes; out_of_memory: boolean; frames: Frame[] }[] };
}
export interface Oom {
  device: number; pid: number; event: number; time_ns: number; requested_bytes: Bytes; free_bytes: Bytes;
  largest_free_block_bytes: Bytes | null; largest_usable_free_block_bytes: Bytes | null; reserved_bytes: Bytes;
  allocated_bytes: Bytes; capacity_bytes: Bytes | null; frames: Frame[]; caught: boolean; holders: CallSite[];
}
export interface Advice {
  id: string; title: string; saves_bytes: Bytes | null; saves_bytes_most: Bytes | null; proof: string;
  evidence: string; change: string; saves_bytes_per_step: number; caution: string | null;
  source: string | null; cost: string | null; not_when: string | null; pid: number; rank: number;
  amount: string; frames: Frame[]; device: number | null; mends_out_of_memory: boolean;
}
export interface Rank {
  rank: number | null; pid: number; host: string | null; attempt: number; device: number | null;
  devices: { index: number; name: string | null; peak_allocated_bytes: Bytes;
    peak_reserved_bytes: Bytes | null; used_bytes: Bytes | null; outside_bytes: Bytes | null }[];
  steps: number; growth_bytes_per_step: number; ran_out_of_memory: boolean; clean_exit: boolean;
}
export interface Run {
  command: string[]; pid: number; rank: number | null; host: string | null; duration_ns: number;
  started_ns: number; torch: string | null; cuda: string | null; python: string | null;
  alloc_conf: string | null; simulated: boolean; simulated_gpu: string | null; python_stacks: string | null;
  agent: string | null; recording: { mode: string } | null;
}
export interface Completeness {
  events: number; dropped_events: number; dropped_because: string | null; truncated: boolean;
  clean_exit: boolean; unresolved_stacks: number; total_mismatches: number; allocations: number;
}
export interface Report {
  schema: string; run: Run; completeness: Completeness; devices: Device[]; verdicts: Verdict[];
  steps: { count: number; boundary: string | null };
  fragmentation: Fragmentation[]; oom: Oom[]; advice: Advice[];
  advice_combined: { pid: number; device: number; ids: string[]; saves_bytes: Bytes;
    peak_reserved_bytes: Bytes; proof: string }[];
  ranks: Rank[]; rank_differences: { rank: number | null; pid: number; measure: string; value: number;
    usual: number; sentence: string }[];
  processes: { trace: string; run: Run; completeness: Completeness }[];
}

/** Shapes of a series that accumulates. */
export const LEAKS: ReadonlySet<string> = new Set(["accumulating", "stepwise", "sawtooth_leak"]);
