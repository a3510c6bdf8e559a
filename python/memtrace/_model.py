# SPDX-License-Identifier: Apache-2.0
# Made by scripts/report_model from analyzer/show/json/report.schema.json.
"""What a report holds: sizes in bytes, times in nanoseconds. None where nothing is known."""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional


@dataclass(frozen=True, repr=False)
class Headline:
    """The answer in one line"""

    state: str
    text: str
    device: Optional[int]


@dataclass(frozen=True, repr=False)
class Snapshot:
    history: str
    allocated_before_bytes: int
    stacks: str
    backward_known_by: Optional[str]
    has_times: bool
    events_lead_to_segments: bool
    contradictions: int
    skipped_events: int


@dataclass(frozen=True, repr=False)
class RunRecordingRefused:
    capability: str
    reason: str


@dataclass(frozen=True, repr=False)
class RunRecording:
    """null: an older trace, which does not tell"""

    mode: str
    capabilities: List[str]
    refused: List[RunRecordingRefused]


@dataclass(frozen=True, repr=False)
class Run:
    command: List[str]
    pid: int
    rank: Optional[int]
    local_rank: Optional[int]
    world_size: Optional[int]
    host: Optional[str]
    started_ns: int
    duration_ns: int
    exit_status: Optional[int]
    torch: Optional[str]
    cuda: Optional[str]
    python: Optional[str]
    alloc_conf: Optional[str]
    settings_without_effect: List[str]
    simulated: bool
    simulated_gpu: Optional[str]
    python_stacks: Optional[str]
    event_source: Optional[str]
    source: str
    snapshot: Optional[Snapshot]
    agent: Optional[str]
    autograd: Optional[str]
    recording: Optional[RunRecording]
    environment: Dict[str, str]


@dataclass(frozen=True, repr=False)
class CompletenessGap:
    events: int
    begin_ns: int
    end_ns: int


@dataclass(frozen=True, repr=False)
class CompletenessUnknownSize:
    operation: str
    place: str


@dataclass(frozen=True, repr=False)
class CompletenessUnknownEntryPoint:
    name: str
    cuda_version: Optional[int]
    another: bool


@dataclass(frozen=True, repr=False)
class CompletenessDamage:
    code: str
    offset: int
    message: str


@dataclass(frozen=True, repr=False)
class Completeness:
    events: int
    dropped_events: int
    dropped_because: Optional[str]
    gaps: List[CompletenessGap]
    truncated: bool
    clean_exit: bool
    missing_blocks: int
    missing_events: int
    allocated_before_bytes: Optional[int]
    unknown_sizes: List[CompletenessUnknownSize]
    allocations: int
    backward_allocations: int
    unresolved_stacks: int
    total_mismatches: int
    unknown_frees: int
    unknown_entry_points: List[CompletenessUnknownEntryPoint]
    damage: Optional[CompletenessDamage]
    messages: List[str]


@dataclass(frozen=True, repr=False)
class TrainingCheckpointedModule:
    root: str
    path: str
    type: str


@dataclass(frozen=True, repr=False)
class Training:
    """How the model was trained"""

    autocast: bool
    checkpointed_modules: List[TrainingCheckpointedModule]
    parameters: int
    parameter_bytes: int
    trainable_bytes: int


@dataclass(frozen=True, repr=False)
class ReportProcessCounter:
    name: str
    times: int
    last: Optional[float]
    least: Optional[float]
    most: Optional[float]


@dataclass(frozen=True, repr=False)
class ReportProcessExpectation:
    what: str
    why: Optional[str]
    by: str
    file: Optional[str]
    line: int
    verdicts: int


@dataclass(frozen=True, repr=False)
class ReportProcess:
    trace: str
    headline: Headline
    run: Run
    completeness: Completeness
    training: Training
    counters: List[ReportProcessCounter]
    expectations: List[ReportProcessExpectation]


@dataclass(frozen=True, repr=False)
class Frame:
    file: str
    line: int
    function: str
    user: bool


@dataclass(frozen=True, repr=False)
class ReportStepsSeriesStep:
    end_event: int
    end_ns: int
    end_allocated_bytes: int
    peak_event: int
    peak_allocated_bytes: int
    phase_peaks: Dict[str, int]


@dataclass(frozen=True, repr=False)
class ReportStepsSeries:
    pid: int
    device: int
    steps: List[ReportStepsSeriesStep]


@dataclass(frozen=True, repr=False)
class ReportSteps:
    count: int
    boundary: Optional[str]
    confidence: Optional[float]
    begins_at: List[Frame]
    series: List[ReportStepsSeries]


@dataclass(frozen=True, repr=False)
class CategoryRowEvidenceBytes:
    """The bytes by how they are known; they sum to bytes"""

    annotated: int
    inferred: int
    propagated: int
    unknown: int


@dataclass(frozen=True, repr=False)
class CategoryRow:
    category: str
    bytes: int
    blocks: int
    evidence: str
    evidence_bytes: CategoryRowEvidenceBytes
    rules: Dict[str, int]
    recomputed_bytes: int
    attention_scores_bytes: int
    fp32_under_autocast_bytes: int


@dataclass(frozen=True, repr=False)
class CallSite:
    """Memory of one category by the place that asked for it"""

    frames: List[Frame]
    thread: Optional[str]
    forward_frames: List[Frame]
    node: Optional[str]
    fused_with: List[Frame]
    category: str
    evidence: str
    bytes: int
    blocks: int
    recomputed_bytes: int
    attention_scores_bytes: int
    sites: int


@dataclass(frozen=True, repr=False)
class Module:
    """A module's own memory, without that of the modules in it"""

    root: Optional[str]
    path: Optional[str]
    type: Optional[str]
    parent: Optional[int]
    weights_bytes: int
    buffers_bytes: int
    gradients_bytes: int
    optimizer_states_bytes: int
    activations_bytes: int
    attention_scores_bytes: int
    other_bytes: int
    total_bytes: int


@dataclass(frozen=True, repr=False)
class NamedMemory:
    """What the program gave one name with annotate(): the cache of a request, a table"""

    name: str
    category: str
    bytes: int
    blocks: int


@dataclass(frozen=True, repr=False)
class Block:
    address: int
    bytes: int
    born_event: int
    category: str
    evidence: str
    rule: Optional[str]
    name: Optional[str]
    detail: Optional[str]
    module: Optional[str]
    root: Optional[str]
    phase: str
    call_site: int


@dataclass(frozen=True, repr=False)
class Parameter:
    """A storage of a model's parameters, at the peak"""

    root: str
    name: str
    sharing: int
    dtype: Optional[str]
    trainable: bool
    weights_bytes: int
    gradients_bytes: int
    optimizer_states_bytes: int


@dataclass(frozen=True, repr=False)
class Fp32Place:
    """Where autograd keeps 32-bit tensors although AMP is on"""

    frames: List[Frame]
    thread: Optional[str]
    module: Optional[str]
    bytes: int


@dataclass(frozen=True, repr=False)
class DeviceAtPeak:
    """At the allocated peak"""

    event: int
    time_ns: int
    allocated_bytes: int
    phase: str
    step: Optional[int]
    categories: List[CategoryRow]
    call_sites: List[CallSite]
    unattributed_bytes: int
    modules: List[Module]
    names: List[NamedMemory]
    blocks: Optional[List[Block]]
    parameters: List[Parameter]
    fp32_under_autocast: List[Fp32Place]


@dataclass(frozen=True, repr=False)
class Memory:
    """Who held the memory at one moment"""

    event: int
    time_ns: int
    allocated_bytes: int
    phase: str
    step: Optional[int]
    categories: List[CategoryRow]
    call_sites: List[CallSite]
    unattributed_bytes: int
    modules: List[Module]
    names: List[NamedMemory]
    blocks: Optional[List[Block]]


@dataclass(frozen=True, repr=False)
class Unused:
    """Why reserved memory is not allocated"""

    empty_segments_bytes: int
    split_segments_bytes: int
    expandable_segments_bytes: int
    private_pools_bytes: int
    pending_free_bytes: int


@dataclass(frozen=True, repr=False)
class Moment:
    event: int
    time_ns: int
    allocated_bytes: int
    reserved_bytes: int
    requested_bytes: int
    graph_pool_bytes: int
    asleep_bytes: int
    unused: Unused


@dataclass(frozen=True, repr=False)
class DeviceGraphsCapture:
    event: int
    end_event: int
    time_ns: int
    pool: int
    added_bytes: int
    most_in_use_bytes: int
    frames: List[Frame]


@dataclass(frozen=True, repr=False)
class DeviceGraphs:
    """CUDA graphs that were captured into PyTorch's private pools"""

    count: int
    pools: int
    added_bytes: int
    captures: List[DeviceGraphsCapture]


@dataclass(frozen=True, repr=False)
class DeviceOutsidePool:
    owner: str
    bytes: int
    peak_bytes: Optional[int]
    evidence: str


@dataclass(frozen=True, repr=False)
class DeviceActivity:
    listened_ns: int
    busy_ns: int
    idle_ns: int
    kernels: int
    migrated_to_device_bytes: int
    migrated_to_host_bytes: int
    page_fault_groups: int


@dataclass(frozen=True, repr=False)
class DeviceAsleep:
    event: int
    time_ns: int
    bytes: int
    blocks: int
    times: int
    at_end_bytes: int
    sites: List[CallSite]


@dataclass(frozen=True, repr=False)
class DeviceUsedPart:
    part: str
    bytes: int
    evidence: str


@dataclass(frozen=True, repr=False)
class DeviceUsed:
    event: int
    time_ns: int
    used_bytes: int
    parts: List[DeviceUsedPart]


@dataclass(frozen=True, repr=False)
class DeviceExpected:
    term: str
    expected_bytes: Optional[int]
    measured_bytes: int
    off: bool
    formula: Optional[str]
    source: Optional[str]
    note: Optional[str]


@dataclass(frozen=True, repr=False)
class DeviceRoom:
    used_bytes: int
    used_share: float
    batch_factor: Optional[float]


@dataclass(frozen=True, repr=False)
class DevicePhase:
    phase: str
    source: str
    times: Optional[int]
    peak_allocated_bytes: int
    peak_event: int
    allocated_bytes: int
    freed_bytes: int
    categories: List[CategoryRow]


@dataclass(frozen=True, repr=False)
class Device:
    index: int
    pid: int
    rank: Optional[int]
    host: Optional[str]
    name: Optional[str]
    capacity_bytes: Optional[int]
    peak_allocated_bytes: int
    peak_allocated_event: int
    peak_reserved_bytes: Optional[int]
    at_peak: DeviceAtPeak
    at_moment: Optional[Memory]
    never_freed: Optional[List[CallSite]]
    peak_source: str
    peak_allocated: Optional[Moment]
    peak_reserved: Optional[Moment]
    graphs: DeviceGraphs
    retries: int
    outside_pool: List[DeviceOutsidePool]
    activity: Optional[DeviceActivity]
    asleep: Optional[DeviceAsleep]
    used: Optional[DeviceUsed]
    unexplained_bytes: Optional[int]
    expected: List[DeviceExpected]
    room: Optional[DeviceRoom]
    phases: List[DevicePhase]


@dataclass(frozen=True, repr=False)
class VerdictBound:
    kind: str
    file: Optional[str]
    line: int
    expression: str
    value: int
    reached_in_steps: Optional[int]


@dataclass(frozen=True, repr=False)
class VerdictDoubt:
    kind: str
    file: Optional[str]
    line: int
    expression: str


@dataclass(frozen=True, repr=False)
class ExpectedGrowth:
    """Growth that somebody expects; of several who do, the one that explains most of it"""

    why: Optional[str]
    by: str
    file: Optional[str]
    line: int
    bytes_per_step: float
    is_all: bool


@dataclass(frozen=True, repr=False)
class VerdictElsewhere:
    gpu: str
    capacity_bytes: int
    steps_to_oom: int


@dataclass(frozen=True, repr=False)
class Retainer:
    path: str
    bytes: int
    blocks: int
    container: Optional[str]
    length: int
    owner: Optional[str]
    file: Optional[str]
    line: int
    holder: Optional[str]
    also: Optional[str]
    bytes_per_step: float
    censuses: int
    flags: List[str]


@dataclass(frozen=True, repr=False)
class GrowthFix:
    id: str
    cause: str
    change: str
    caution: Optional[str]
    saves_bytes_per_step: float


@dataclass(frozen=True, repr=False)
class VerdictCulprit:
    frames: List[Frame]
    forward: List[Frame]
    bytes_per_step: float
    share: float
    bytes: int
    blocks: int
    birth_steps: int
    category: str
    phase: str
    confidence: float
    retained_by: List[Retainer]
    expected: Optional[ExpectedGrowth]
    fix: Optional[GrowthFix]


@dataclass(frozen=True, repr=False)
class VerdictSeries:
    """As it was judged, thinned to at most 64 values"""

    unit: str
    first: int
    stride: int
    bytes: List[int]


@dataclass(frozen=True, repr=False)
class VerdictEvidence:
    """What the verdict rests on; see docs/growth.md"""

    steps: int
    warmup_steps: int
    step_resolution: int
    points: int
    net_bytes: float
    noise_bytes: float
    mann_kendall_z: float
    autocorrelation: float
    model: str
    model_margin: float
    late_start: float
    teeth: int
    tooth_bytes: float
    tooth_steps: float
    jumps: int
    jump_log_odds: float


@dataclass(frozen=True, repr=False)
class Verdict:
    subject: str
    pid: int
    answer: str
    bound: Optional[VerdictBound]
    doubt: Optional[VerdictDoubt]
    expected: Optional[ExpectedGrowth]
    shape: str
    bytes_per_step: Optional[float]
    bytes_per_step_low: Optional[float]
    bytes_per_step_high: Optional[float]
    steps_to_oom: Optional[int]
    time_to_oom_ns: Optional[int]
    elsewhere: List[VerdictElsewhere]
    confidence: Optional[float]
    is_leak: bool
    negligible: bool
    more_steps_needed: int
    culprits: List[VerdictCulprit]
    fix: Optional[GrowthFix]
    summary: str
    overturned_by: Optional[str]
    series: VerdictSeries
    evidence: VerdictEvidence


@dataclass(frozen=True, repr=False)
class UnusedByReason:
    """Each byte by the first reason that applies, for the latest request that reserved a large segment;
    see docs/fragmentation.md"""

    pending_frees: int
    private_pools: int
    other_streams: int
    small_pool: int
    expandable_tails: int
    segment_rounding: int
    empty_segments: int
    survivors: int
    split: int


@dataclass(frozen=True, repr=False)
class FragmentationMomentRounding:
    """Inside of allocated blocks: adds up to allocated_bytes"""

    requested_bytes: int
    multiples_bytes: int
    tails_bytes: int


@dataclass(frozen=True, repr=False)
class FragmentationMoment:
    event: int
    reserved_bytes: int
    allocated_bytes: int
    graph_pool_bytes: int
    unused_bytes: int
    unused: UnusedByReason
    used_again: UnusedByReason
    rounding: FragmentationMomentRounding
    request_bytes: int
    largest_free_block_bytes: int
    frames: List[Frame]


@dataclass(frozen=True, repr=False)
class FragmentationOverTime:
    event: int
    reserved_bytes: int
    allocated_bytes: int
    graph_pool_bytes: int
    unused_bytes: int
    unused: UnusedByReason


@dataclass(frozen=True, repr=False)
class FragmentationPinningSite:
    frames: List[Frame]
    bytes: int
    blocks: int
    block_bytes: int
    category: str


@dataclass(frozen=True, repr=False)
class FragmentationBlockedRequestsLargest:
    event: int
    bytes: int
    free_bytes: int
    largest_free_block_bytes: int
    out_of_memory: bool
    frames: List[Frame]


@dataclass(frozen=True, repr=False)
class FragmentationBlockedRequests:
    count: int
    looked_at: int
    of: int
    reserved_bytes: int
    largest: List[FragmentationBlockedRequestsLargest]


@dataclass(frozen=True, repr=False)
class FragmentationPressure:
    retries: int
    retry_ns: int
    collections: int
    collection_ns: int
    segments_freed: int
    bytes_freed: int
    segments_got: int
    bytes_got: int
    driver_calls: int


@dataclass(frozen=True, repr=False)
class HeapMapSegment:
    address: int
    bytes: int
    stream: int
    private_pool: bool
    small: bool
    expandable: bool
    blocks: str


@dataclass(frozen=True, repr=False)
class HeapMap:
    when: str
    event: int
    sites: List[str]
    merged: bool
    segments_left_out: int
    bytes_left_out: int
    segments: List[HeapMapSegment]


@dataclass(frozen=True, repr=False)
class Fragmentation:
    device: int
    pid: int
    peak_reserved_bytes: int
    peak_allocated_bytes: int
    lower_bound_bytes: Optional[int]
    lower_bound_active_bytes: Optional[int]
    cause: str
    matters: bool
    summary: Optional[str]
    inexact: Optional[str]
    at_peak: Optional[FragmentationMoment]
    at_out_of_memory: Optional[FragmentationMoment]
    over_time: List[FragmentationOverTime]
    pinning_sites: List[FragmentationPinningSite]
    blocked_requests: FragmentationBlockedRequests
    pressure: FragmentationPressure
    maps: List[HeapMap]


@dataclass(frozen=True, repr=False)
class Oom:
    device: int
    pid: int
    event: int
    time_ns: int
    requested_bytes: int
    free_bytes: int
    largest_free_block_bytes: Optional[int]
    largest_usable_free_block_bytes: Optional[int]
    reserved_bytes: int
    allocated_bytes: int
    capacity_bytes: Optional[int]
    graph_pool_bytes: int
    unused: Unused
    frames: List[Frame]
    thread: Optional[str]
    caught: bool
    holders: List[CallSite]
    retained_by: List[Retainer]
    fix: Optional[GrowthFix]


@dataclass(frozen=True, repr=False)
class OutsideRefusal:
    device: int
    pid: int
    time_ns: int
    requested_bytes: int
    library: Optional[str]
    reserved_bytes: int
    allocated_bytes: int
    graph_pool_bytes: int
    unused: Unused
    frames: List[Frame]


@dataclass(frozen=True, repr=False)
class Advice:
    id: str
    title: str
    saves_bytes: Optional[int]
    proof: str
    evidence: str
    change: str
    saves_bytes_per_step: float
    saves_ns: Optional[int]
    caution: Optional[str]
    subject: Optional[str]
    pid: int
    frames: List[Frame]
    rank: int
    amount: str
    saves_bytes_most: Optional[int]
    saves_allocated_bytes: Optional[int]
    saves_capacity_bytes: Optional[int]
    saves_host_bytes: Optional[int]
    retries_before: Optional[int]
    retries_after: Optional[int]
    mends_out_of_memory: bool
    free: bool
    source: Optional[str]
    cost: Optional[str]
    not_when: Optional[str]
    group: Optional[str]
    device: Optional[int]


@dataclass(frozen=True, repr=False)
class ReportHostPinnedSite:
    pid: int
    frames: List[Frame]
    bytes: int
    buffers: int


@dataclass(frozen=True, repr=False)
class ReportHostPinned:
    """Page-locked host memory by line, and how much of it is rounding"""

    bytes: int
    buffers: int
    powers_of_two_bytes: int
    rounding_at_most_bytes: int
    rounding_estimated_bytes: Optional[int]
    sites: List[ReportHostPinnedSite]


@dataclass(frozen=True, repr=False)
class ReportHostWorker:
    pid: int
    peak_pss_bytes: int


@dataclass(frozen=True, repr=False)
class ReportHostSeries:
    pid: int
    name: str
    times_ns: List[int]
    bytes: List[int]


@dataclass(frozen=True, repr=False)
class ReportHost:
    limit_bytes: Optional[int]
    limit_source: Optional[str]
    limit_used_peak_bytes: Optional[int]
    peak_bytes: Optional[int]
    pinned_peak_bytes: int
    pinned: ReportHostPinned
    workers: List[ReportHostWorker]
    series: List[ReportHostSeries]


@dataclass(frozen=True, repr=False)
class ReportAdviceCombined:
    pid: int
    device: int
    ids: List[str]
    saves_bytes: int
    peak_reserved_bytes: int
    proof: str


@dataclass(frozen=True, repr=False)
class ReportAdviceLimit:
    pid: int
    text: str


@dataclass(frozen=True, repr=False)
class ReportRankDevice:
    index: int
    name: Optional[str]
    peak_allocated_bytes: int
    peak_reserved_bytes: Optional[int]
    used_bytes: Optional[int]
    outside_bytes: Optional[int]


@dataclass(frozen=True, repr=False)
class ReportRank:
    rank: Optional[int]
    local_rank: Optional[int]
    world_size: Optional[int]
    host: Optional[str]
    pid: int
    trace: str
    attempt: int
    device: Optional[int]
    devices: List[ReportRankDevice]
    steps: int
    growth_bytes_per_step: float
    ran_out_of_memory: bool
    clean_exit: bool


@dataclass(frozen=True, repr=False)
class ReportRankDifferenceLine:
    where: str
    category: str
    bytes: int
    usual_bytes: int


@dataclass(frozen=True, repr=False)
class ReportRankDifference:
    rank: Optional[int]
    pid: int
    host: Optional[str]
    attempt: int
    measure: str
    value: float
    usual: float
    compared_ranks: int
    distance: Optional[float]
    lines: List[ReportRankDifferenceLine]
    sentence: str


@dataclass(frozen=True, repr=False)
class ReportSharedMemoryOpenedBy:
    rank: Optional[int]
    pid: int
    host: Optional[str]


@dataclass(frozen=True, repr=False)
class ReportSharedMemoryOwner:
    rank: Optional[int]
    pid: int
    host: Optional[str]


@dataclass(frozen=True, repr=False)
class ReportSharedMemory:
    opened_by: ReportSharedMemoryOpenedBy
    owner: Optional[ReportSharedMemoryOwner]
    device: int
    bytes: int
    allocations: int
    allocations_of_unknown_size: int


@dataclass(frozen=True, repr=False)
class Report:
    """What memtrace report --json writes. Sizes are bytes, times nanoseconds. Lists that this version
    cannot fill are empty; values it does not know are null."""

    schema: str
    headline: Headline
    run: Run
    processes: List[ReportProcess]
    completeness: Completeness
    steps: ReportSteps
    devices: List[Device]
    verdicts: List[Verdict]
    fragmentation: List[Fragmentation]
    oom: List[Oom]
    refused_outside: List[OutsideRefusal]
    advice: List[Advice]
    host: ReportHost
    advice_combined: List[ReportAdviceCombined]
    advice_limits: List[ReportAdviceLimit]
    ranks: List[ReportRank]
    rank_differences: List[ReportRankDifference]
    shared_memory: List[ReportSharedMemory]
    missing_ranks: List[int]
    played_ranks: int
