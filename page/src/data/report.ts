// SPDX-License-Identifier: Apache-2.0
// Made by scripts/page_types from analyzer/show/json/report.schema.json.

export interface Headline {
  state: "out_of_memory" | "leaks" | "fits_so_far" | "fits" | "no_gpu_memory";
  text: string;
  device: number | null;
}
export type Bytes = number;
export type DevicePart = string;
export type PartEvidence = "measured" | "difference" | "rule" | "estimated";
export type Category = "weights" | "buffers" | "gradients" | "optimizer_states" | "activations" | "inputs" | "temporaries" | "workspace" | "outputs" | "kv_cache" | "collected" | "other" | "unknown";
export type Evidence = "annotated" | "inferred" | "propagated" | "unknown";
export interface Frame {
  file: string;
  line: number;
  function: string;
  user: boolean;
}
export type Frames = Frame[];
export interface CallSite {
  frames: Frames;
  thread: string | null;
  forward_frames: Frames;
  node: string | null;
  fused_with: Frames;
  category: Category;
  evidence: Evidence;
  bytes: Bytes;
  blocks: number;
  recomputed_bytes: Bytes;
  attention_scores_bytes: Bytes;
  sites: number;
}
export interface Unused {
  empty_segments_bytes: Bytes;
  split_segments_bytes: Bytes;
  expandable_segments_bytes: Bytes;
  private_pools_bytes: Bytes;
  pending_free_bytes: Bytes;
}
export interface Moment {
  event: number;
  time_ns: number;
  allocated_bytes: Bytes;
  reserved_bytes: Bytes;
  requested_bytes: Bytes;
  graph_pool_bytes: Bytes;
  asleep_bytes: Bytes;
  unused: Unused;
}
export interface Run {
  command: string[];
  pid: number;
  rank: number | null;
  local_rank: number | null;
  world_size: number | null;
  host: string | null;
  started_ns: number;
  duration_ns: number;
  exit_status: number | null;
  torch: string | null;
  cuda: string | null;
  python: string | null;
  alloc_conf: string | null;
  settings_without_effect: string[];
  simulated: boolean;
  simulated_gpu: string | null;
  python_stacks: string | null;
  event_source: string | null;
  source: "recording" | "pytorch_snapshot" | "profiler_trace";
  snapshot: Snapshot | null;
  agent: string | null;
  autograd: string | null;
  recording: {
    mode: "minimal" | "standard" | "full";
    capabilities: string[];
    refused: { capability: string; reason: string }[];
  } | null;
  environment: Record<string, string>;
}
export interface Snapshot {
  history: "none" | "whole" | "late";
  allocated_before_bytes: number;
  stacks: "none" | "python" | "all";
  backward_known_by: "frames" | "threads" | "assumed" | null;
  has_times: boolean;
  events_lead_to_segments: boolean;
  contradictions: number;
  skipped_events: number;
}
export interface Completeness {
  events: number;
  dropped_events: number;
  dropped_because: "disk_full" | "io_error" | "out_of_memory" | "internal" | "slow_disk" | "unknown" | null;
  gaps: { events: number; begin_ns: number; end_ns: number }[];
  truncated: boolean;
  clean_exit: boolean;
  missing_blocks: number;
  missing_events: number;
  allocated_before_bytes: number | null;
  unknown_sizes: { operation: string; place: string }[];
  allocations: number;
  backward_allocations: number;
  unresolved_stacks: number;
  total_mismatches: number;
  unknown_frees: number;
  unknown_entry_points: {
    name: string;
    cuda_version: null | number;
    another: boolean;
  }[];
  damage: null | { code: string; offset: number; message: string };
  messages: string[];
}
export interface Device {
  index: number;
  pid: number;
  rank: number | null;
  host: string | null;
  name: string | null;
  capacity_bytes: Bytes | null;
  peak_allocated_bytes: Bytes;
  peak_allocated_event: number;
  peak_reserved_bytes: Bytes | null;
  at_peak: {
    event: number;
    time_ns: number;
    allocated_bytes: Bytes;
    phase: Phase;
    step: number | null;
    categories: CategoryRow[];
    call_sites: CallSite[];
    unattributed_bytes: Bytes;
    modules: Module[];
    names: NamedMemory[];
    blocks?: Block[];
    parameters: Parameter[];
    fp32_under_autocast: Fp32Place[];
  };
  at_moment: Memory | null;
  never_freed: CallSite[] | null;
  peak_source: "allocator" | "cuda_calls";
  peak_allocated: Moment | null;
  peak_reserved: Moment | null;
  graphs: {
    count: number;
    pools: number;
    added_bytes: Bytes;
    captures: {
      event: number;
      end_event: number;
      time_ns: number;
      pool: number;
      added_bytes: Bytes;
      most_in_use_bytes: Bytes;
      frames: Frames;
    }[];
  };
  retries: number;
  outside_pool: {
    owner: DevicePart;
    bytes: Bytes;
    peak_bytes: Bytes | null;
    evidence: PartEvidence;
  }[];
  activity: {
    listened_ns: number;
    busy_ns: number;
    idle_ns: number;
    kernels: number;
    migrated_to_device_bytes: number;
    migrated_to_host_bytes: number;
    page_fault_groups: number;
  } | null;
  asleep: {
    event: number;
    time_ns: number;
    bytes: Bytes;
    blocks: number;
    times: number;
    at_end_bytes: Bytes;
    sites: CallSite[];
  } | null;
  used: {
    event: number;
    time_ns: number;
    used_bytes: Bytes;
    parts: { part: DevicePart; bytes: Bytes; evidence: PartEvidence }[];
  } | null;
  unexplained_bytes: number | null;
  expected: {
    term: "weights" | "gradients" | "optimizer_states" | "optimizer_temporaries" | "weight_casts" | "activations" | "workspace" | "cached" | "graph_pool";
    expected_bytes: Bytes | null;
    measured_bytes: Bytes;
    off: boolean;
    formula: string | null;
    source: string | null;
    note: string | null;
  }[];
  room: {
    used_bytes: Bytes;
    used_share: number;
    batch_factor: number | null;
  } | null;
  phases: {
    phase: string;
    source: "derived" | "user" | "nvtx";
    times: number | null;
    peak_allocated_bytes: Bytes;
    peak_event: number;
    allocated_bytes: Bytes;
    freed_bytes: Bytes;
    categories: CategoryRow[];
  }[];
}
export interface OutsideRefusal {
  device: number;
  pid: number;
  time_ns: number;
  requested_bytes: Bytes;
  library: string | null;
  reserved_bytes: Bytes;
  allocated_bytes: Bytes;
  graph_pool_bytes: Bytes;
  unused: Unused;
  frames: Frames;
}
export interface Oom {
  device: number;
  pid: number;
  event: number;
  time_ns: number;
  requested_bytes: Bytes;
  free_bytes: Bytes;
  largest_free_block_bytes: Bytes | null;
  largest_usable_free_block_bytes: Bytes | null;
  reserved_bytes: Bytes;
  allocated_bytes: Bytes;
  capacity_bytes: Bytes | null;
  graph_pool_bytes: Bytes;
  unused: Unused;
  frames: Frames;
  thread: string | null;
  caught: boolean;
  holders: CallSite[];
  retained_by: Retainer[];
  fix: GrowthFix | null;
}
export interface Verdict {
  subject: string;
  pid: number;
  answer: "accumulates" | "bounded" | "not_settled" | "steady";
  bound: {
    kind: "container" | "length" | "keys" | "emptied" | "positions" | "counted" | "episode" | "loop";
    file: string | null;
    line: number;
    expression: string;
    value: number;
    reached_in_steps: number | null;
  } | null;
  doubt: {
    kind: "taken_out" | "measured" | "keys" | "elsewhere" | "runs_out" | "places" | "captures" | "returns";
    file: string | null;
    line: number;
    expression: string;
  } | null;
  expected: ExpectedGrowth | null;
  shape: "accumulating" | "stepwise" | "sawtooth" | "sawtooth_leak" | "bounded_records" | "warmup_plateau" | "steady" | "unknown";
  bytes_per_step: number | null;
  bytes_per_step_low: number | null;
  bytes_per_step_high: number | null;
  steps_to_oom: number | null;
  time_to_oom_ns: number | null;
  elsewhere: {
    gpu: string;
    capacity_bytes: number;
    steps_to_oom: number;
  }[];
  confidence: number | null;
  is_leak: boolean;
  negligible: boolean;
  more_steps_needed: number;
  culprits: {
    frames: Frames;
    forward: Frames;
    bytes_per_step: number;
    share: number;
    bytes: Bytes;
    blocks: number;
    birth_steps: number;
    category: Category;
    phase: string;
    confidence: number;
    retained_by: Retainer[];
    expected: ExpectedGrowth | null;
    fix: GrowthFix | null;
  }[];
  fix: GrowthFix | null;
  summary: string;
  overturned_by: string | null;
  series: {
    unit: string;
    first: number;
    stride: number;
    bytes: Bytes[];
  };
  evidence: {
    steps: number;
    warmup_steps: number;
    step_resolution: number;
    points: number;
    net_bytes: number;
    noise_bytes: number;
    mann_kendall_z: number;
    autocorrelation: number;
    model: string;
    model_margin: number;
    late_start: number;
    teeth: number;
    tooth_bytes: number;
    tooth_steps: number;
    jumps: number;
    jump_log_odds: number;
  };
}
export interface ExpectedGrowth {
  why: string | null;
  by: "program" | "file";
  file: string | null;
  line: number;
  bytes_per_step: number;
  is_all: boolean;
}
export interface Fragmentation {
  device: number;
  pid: number;
  peak_reserved_bytes: Bytes;
  peak_allocated_bytes: Bytes;
  lower_bound_bytes: Bytes | null;
  lower_bound_active_bytes: Bytes | null;
  cause: "none" | "unknown" | "growing_requests" | "changing_requests" | "survivors" | "split" | "other_streams" | "pending_frees" | "private_pools" | "small_pool" | "segment_rounding" | "expandable_tails";
  matters: boolean;
  summary: string | null;
  inexact: string | null;
  at_peak: FragmentationMoment | null;
  at_out_of_memory: FragmentationMoment | null;
  over_time: {
    event: number;
    reserved_bytes: Bytes;
    allocated_bytes: Bytes;
    graph_pool_bytes: Bytes;
    unused_bytes: Bytes;
    unused: UnusedByReason;
  }[];
  pinning_sites: {
    frames: Frames;
    bytes: Bytes;
    blocks: number;
    block_bytes: Bytes;
    category: Category;
  }[];
  blocked_requests: {
    count: number;
    looked_at: number;
    of: number;
    reserved_bytes: Bytes;
    largest: {
      event: number;
      bytes: Bytes;
      free_bytes: Bytes;
      largest_free_block_bytes: Bytes;
      out_of_memory: boolean;
      frames: Frames;
    }[];
  };
  pressure: {
    retries: number;
    retry_ns: number;
    collections: number;
    collection_ns: number;
    segments_freed: number;
    bytes_freed: Bytes;
    segments_got: number;
    bytes_got: Bytes;
    driver_calls: number;
  };
  maps: HeapMap[];
}
export interface Advice {
  id: string;
  title: string;
  saves_bytes: Bytes | null;
  proof: "replayed" | "measured" | "estimated";
  evidence: string;
  change: string;
  saves_bytes_per_step: number;
  saves_ns: number | null;
  caution: string | null;
  subject: string | null;
  pid: number;
  frames: Frame[];
  rank: number;
  amount: string;
  saves_bytes_most: Bytes | null;
  saves_allocated_bytes: number | null;
  saves_capacity_bytes: number | null;
  saves_host_bytes: Bytes | null;
  retries_before: number | null;
  retries_after: number | null;
  mends_out_of_memory: boolean;
  free: boolean;
  source: string | null;
  cost: string | null;
  not_when: string | null;
  group: string | null;
  device: number | null;
}
export type Phase = "forward" | "backward" | "optimizer" | "zero_grad" | "evaluation" | "data_loading" | "setup" | "other";
export interface CategoryRow {
  category: Category;
  bytes: Bytes;
  blocks: number;
  evidence: Evidence;
  evidence_bytes: {
    annotated: Bytes;
    inferred: Bytes;
    propagated: Bytes;
    unknown: Bytes;
  };
  rules: Record<string, Bytes>;
  recomputed_bytes: Bytes;
  attention_scores_bytes: Bytes;
  fp32_under_autocast_bytes: Bytes;
}
export interface Module {
  root: string | null;
  path: string | null;
  type: string | null;
  parent: number | null;
  weights_bytes: Bytes;
  buffers_bytes: Bytes;
  gradients_bytes: Bytes;
  optimizer_states_bytes: Bytes;
  activations_bytes: Bytes;
  attention_scores_bytes: Bytes;
  other_bytes: Bytes;
  total_bytes: Bytes;
}
export interface Parameter {
  root: string;
  name: string;
  sharing: number;
  dtype: string | null;
  trainable: boolean;
  weights_bytes: Bytes;
  gradients_bytes: Bytes;
  optimizer_states_bytes: Bytes;
}
export interface Fp32Place {
  frames: Frames;
  thread: string | null;
  module: string | null;
  bytes: Bytes;
}
export interface Block {
  address: number;
  bytes: Bytes;
  born_event: number;
  category: Category;
  evidence: Evidence;
  rule: string | null;
  name: string | null;
  detail: string | null;
  module: string | null;
  root: string | null;
  phase: Phase;
  call_site: number;
}
export interface Memory {
  event: number;
  time_ns: number;
  allocated_bytes: Bytes;
  phase: Phase;
  step: number | null;
  categories: CategoryRow[];
  call_sites: CallSite[];
  unattributed_bytes: Bytes;
  modules: Module[];
  names: NamedMemory[];
  blocks?: Block[];
}
export interface Training {
  autocast: boolean;
  checkpointed_modules: { root: string; path: string; type: string }[];
  parameters: number;
  parameter_bytes: Bytes;
  trainable_bytes: Bytes;
}
export interface UnusedByReason {
  pending_frees: Bytes;
  private_pools: Bytes;
  other_streams: Bytes;
  small_pool: Bytes;
  expandable_tails: Bytes;
  segment_rounding: Bytes;
  empty_segments: Bytes;
  survivors: Bytes;
  split: Bytes;
}
export interface FragmentationMoment {
  event: number;
  reserved_bytes: Bytes;
  allocated_bytes: Bytes;
  graph_pool_bytes: Bytes;
  unused_bytes: Bytes;
  unused: UnusedByReason;
  used_again: UnusedByReason;
  rounding: {
    requested_bytes: Bytes;
    multiples_bytes: Bytes;
    tails_bytes: Bytes;
  };
  request_bytes: Bytes;
  largest_free_block_bytes: Bytes;
  frames: Frames;
}
export interface HeapMap {
  when: "peak_reserved" | "out_of_memory";
  event: number;
  sites: string[];
  merged: boolean;
  segments_left_out: number;
  bytes_left_out: Bytes;
  segments: {
    address: number;
    bytes: Bytes;
    stream: number;
    private_pool: boolean;
    small: boolean;
    expandable: boolean;
    blocks: string;
  }[];
}
export interface NamedMemory {
  name: string;
  category: Category;
  bytes: Bytes;
  blocks: number;
}
export interface Retainer {
  path: string;
  bytes: Bytes;
  blocks: number;
  container: string | null;
  length: number;
  owner: string | null;
  file: string | null;
  line: number;
  holder: string | null;
  also: string | null;
  bytes_per_step: number;
  censuses: number;
  flags: ("graph" | "traceback" | "hook" | "bounded" | "view" | "gradient" | "has_graph" | "unreachable" | "statement")[];
}
export interface GrowthFix {
  id: string;
  cause: string;
  change: string;
  caution: string | null;
  saves_bytes_per_step: number;
}
export interface Report {
  schema: "memtrace-report/1";
  headline: Headline;
  run: Run;
  processes: {
    trace: string;
    headline: Headline;
    run: Run;
    completeness: Completeness;
    training: Training;
    counters: {
      name: string;
      times: number;
      last: number | null;
      least: number | null;
      most: number | null;
    }[];
    expectations: {
      what: string;
      why: string | null;
      by: "program" | "file";
      file: string | null;
      line: number;
      verdicts: number;
    }[];
  }[];
  completeness: Completeness;
  steps: {
    count: number;
    boundary: "optimizer" | "user" | "nvtx" | "inferred" | null;
    confidence: number | null;
    begins_at: Frames;
    series: {
      pid: number;
      device: number;
      steps: {
        end_event: number;
        end_ns: number;
        end_allocated_bytes: Bytes;
        peak_event: number;
        peak_allocated_bytes: Bytes;
        phase_peaks: Record<string, Bytes>;
      }[];
    }[];
  };
  devices: Device[];
  verdicts: Verdict[];
  fragmentation: Fragmentation[];
  oom: Oom[];
  refused_outside: OutsideRefusal[];
  advice: Advice[];
  host: {
    limit_bytes: Bytes | null;
    limit_source: "machine" | "cgroup_v2" | "cgroup_v1" | "address_space" | "data" | null;
    limit_used_peak_bytes: Bytes | null;
    peak_bytes: Bytes | null;
    pinned_peak_bytes: Bytes;
    pinned: {
      bytes: Bytes;
      buffers: number;
      powers_of_two_bytes: Bytes;
      rounding_at_most_bytes: Bytes;
      rounding_estimated_bytes: Bytes | null;
      sites: {
        pid: number;
        frames: Frames;
        bytes: Bytes;
        buffers: number;
      }[];
    };
    workers: { pid: number; peak_pss_bytes: Bytes }[];
    series: {
      pid: number;
      name: "process" | "workers" | "limit_used";
      times_ns: number[];
      bytes: Bytes[];
    }[];
  };
  advice_combined: {
    pid: number;
    device: number;
    ids: string[];
    saves_bytes: number;
    peak_reserved_bytes: Bytes;
    proof: "replayed" | "estimated";
  }[];
  advice_limits: { pid: number; text: string }[];
  ranks: {
    rank: number | null;
    local_rank: number | null;
    world_size: number | null;
    host: string | null;
    pid: number;
    trace: string;
    attempt: number;
    device: number | null;
    devices: {
      index: number;
      name: string | null;
      peak_allocated_bytes: number;
      peak_reserved_bytes: number | null;
      used_bytes: number | null;
      outside_bytes: number | null;
    }[];
    steps: number;
    growth_bytes_per_step: number;
    ran_out_of_memory: boolean;
    clean_exit: boolean;
  }[];
  rank_differences: {
    rank: number | null;
    pid: number;
    host: string | null;
    attempt: number;
    measure: "peak_allocated" | "peak_reserved" | "outside" | "host" | "growth" | "steps" | "out_of_memory" | "other_device";
    value: number;
    usual: number;
    compared_ranks: number;
    distance: number | null;
    lines: {
      where: string;
      category: string;
      bytes: number;
      usual_bytes: number;
    }[];
    sentence: string;
  }[];
  shared_memory: {
    opened_by: { rank: number | null; pid: number; host: string | null };
    owner: { rank: number | null; pid: number; host: string | null } | null;
    device: number;
    bytes: number;
    allocations: number;
    allocations_of_unknown_size: number;
  }[];
  missing_ranks: number[];
  played_ranks: number;
}
