// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/schema.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace memtrace::tables {

namespace {

constexpr auto integer = column_type::integer;
constexpr auto real = column_type::real;
constexpr auto text = column_type::text;
constexpr bool shared = true;

// Whose row it is: the first columns of every table but those of frames and stacks.
constexpr std::array owner = {
    column{"process", integer, "number of the trace in this export, from 0"},
    column{"pid", integer, "process id", {}, shared},
    column{"rank", integer, "of distributed training; missing: none", {}, shared},
};

template <std::size_t count>
constexpr auto owned(const std::array<column, count>& own, bool keeps_shared = false) {
  std::array<column, owner.size() + count> all{};
  std::copy(owner.begin(), owner.end(), all.begin());
  std::copy(own.begin(), own.end(), all.begin() + owner.size());
  if (!keeps_shared) {
    for (auto& one : all) one.is_shared = false;
  }
  return all;
}

constexpr auto process_columns = owned(std::array{
    column{"local_rank", integer, "on its machine", "/run/local_rank"},
    column{"world_size", integer, "number of ranks", "/run/world_size"},
    column{"trace", text, "the file", "/trace"},
    column{"host", text, "name of the machine", "/run/host"},
    column{"command", text, "the command line, a JSON list", "/run/command"},
    column{"started_ns", integer, "when the recording began, since 1970", "/run/started_ns"},
    column{"duration_ns", integer, "to the last event, or to the clean exit", "/run/duration_ns"},
    column{"torch_version", text, "of PyTorch", "/run/torch"},
    column{"cuda_version", text, "of the CUDA runtime", "/run/cuda"},
    column{"python_version", text, "", "/run/python"},
    column{"alloc_conf", text, "PYTORCH_CUDA_ALLOC_CONF", "/run/alloc_conf"},
    column{"simulated_gpu", text, "model of the simulated GPU; missing: a real one",
           "/run/simulated_gpu"},
    column{"recording_mode", text, "minimal, standard or full", "/run/recording/mode"},
    column{"events", integer, "timed records in the trace", "/completeness/events"},
    column{"dropped_events", integer, "not recorded, as the recorder counted them",
           "/completeness/dropped_events"},
    column{"is_truncated", integer, "1: the file lacks something that was written",
           "/completeness/truncated"},
    column{"is_clean_exit", integer, "1: the program ended by itself", "/completeness/clean_exit"},
    column{"unknown_frees", integer, "frees of blocks that no record had allocated",
           "/completeness/unknown_frees"},
    column{"step_boundary", text, "what ends a step: optimizer, user, inferred; missing: no steps",
           "/step_boundary"},
});

constexpr auto device_columns = owned(std::array{
    column{"device", integer, "index, as PyTorch counts", "/index"},
    column{"name", text, "model of the GPU", "/name"},
    column{"capacity_bytes", integer, "as CUDA says", "/capacity_bytes"},
    column{"peak_allocated_bytes", integer, "as torch.cuda.max_memory_allocated",
           "/peak_allocated_bytes"},
    column{"peak_allocated_event", integer, "after which that was", "/peak_allocated_event"},
    column{"peak_allocated_ns", integer, "", "/at_peak/time_ns"},
    column{"peak_step", integer, "in which that was", "/at_peak/step"},
    column{"peak_phase", text, "in which that was", "/at_peak/phase"},
    column{"peak_unrecorded_bytes", integer,
           "of peak_allocated_bytes: in blocks that no record allocated",
           "/at_peak/unattributed_bytes"},
    column{"peak_reserved_bytes", integer, "as torch.cuda.max_memory_reserved",
           "/peak_reserved_bytes"},
    column{"peak_reserved_event", integer, "", "/peak_reserved/event"},
    column{"peak_reserved_ns", integer, "", "/peak_reserved/time_ns"},
    column{"peak_used_bytes", integer, "by anybody, as the driver says; missing: it was not asked",
           "/used/used_bytes"},
    column{"retries", integer, "allocations for which PyTorch had to give its cache back",
           "/retries"},
});

constexpr auto event_columns = owned(
    std::array{
        column{"trace", text, "the file", {}, shared},
        column{"event", integer, "its number in the trace"},
        column{"kind",
               text,
               "alloc, free_requested, segment_alloc, … as memtrace dump says",
               {},
               shared},
        column{"time_ns", integer, ""},
        column{"device", integer, ""},
        column{"thread", integer, "its number in the system", {}, shared},
        column{"stream", integer, "its handle", {}, shared},
        column{"address", integer, ""},
        column{"bytes", integer, "as asked for"},
        column{"block_bytes", integer, "what it adds to the allocated bytes; negative for a free"},
        column{"allocated_bytes", integer, "of the device, after it"},
        column{"reserved_bytes", integer, "of the device, after it"},
        column{"site", integer, "frame that asked for it: the user's innermost", {}, shared},
        column{"line", text, "the same as file:line function", {}, shared},
        column{"stack", integer, "of its frames", {}, shared},
        column{"name", text, "of a CUDA function, a phase, a step, a counter", {}, shared},
        column{"is_release", integer, "1: a CUDA call that gives memory back", {}, shared},
        column{"counter_value", real, "of a counter"},
        column{"error", integer, "what a CUDA call failed with; missing: it succeeded", {}, shared},
    },
    true);

constexpr auto block_columns = owned(
    std::array{
        column{"trace", text, "the file", {}, shared},
        column{"device", integer, ""},
        column{"address", integer, ""},
        column{"bytes", integer, "as asked for"},
        column{"block_bytes", integer, "as PyTorch counts it, rounded"},
        column{"stream", integer, "its handle", {}, shared},
        column{"thread", integer, "that asked for it", {}, shared},
        column{"allocated_event", integer, "number in the trace"},
        column{"allocated_ns", integer, ""},
        column{"freed_event", integer, "missing: still allocated at the end"},
        column{"freed_ns", integer, ""},
        column{"step", integer, "in which it was allocated; missing: after the last complete one"},
        column{"category", text, "weights, activations, … as in the report", {}, shared},
        column{"category_before", text, "what it was up to category_since_event", {}, shared},
        column{"category_since_event", integer, "from which category holds; missing: always"},
        column{"evidence", text, "how category is known", {}, shared},
        column{"rule", text, "by which that was decided", {}, shared},
        column{"phase", text, "in which it was allocated", {}, shared},
        column{"root", text, "class of the model that it belongs to", {}, shared},
        column{"module", text, "path in the model; empty: the model itself", {}, shared},
        column{"module_type", text, "class of the module", {}, shared},
        column{"name", text, "of the parameter, or as the program annotated it", {}, shared},
        column{"site", integer, "frame that asked for it: the user's innermost", {}, shared},
        column{"line", text, "the same as file:line function", {}, shared},
        column{"stack", integer, "of its frames", {}, shared},
        column{"forward_line",
               text,
               "made in backward: line of the forward call whose gradient it is for",
               {},
               shared},
        column{"forward_stack", integer, "the same, of its frames", {}, shared},
    },
    true);

constexpr auto step_columns = owned(std::array{
    column{"device", integer, ""},
    column{"step", integer, "from 0"},
    column{"end_event", integer, "its boundary"},
    column{"end_ns", integer, ""},
    column{"end_allocated_bytes", integer, "what it leaves allocated"},
    column{"peak_event", integer, "of its highest total"},
    column{"peak_allocated_bytes", integer, ""},
    column{"end_reserved_bytes", integer, "at its boundary"},
    column{"peak_reserved_bytes", integer, "the most in the step"},
});

constexpr auto phase_columns = owned(std::array{
    column{"device", integer, ""},
    column{"phase", text, "forward, backward, …; else as the program named it", "/phase"},
    column{"source", text, "derived: a phase of training; user, nvtx: of the program", "/source"},
    column{"times", integer, "how often it began; missing: not counted", "/times"},
    column{"peak_allocated_bytes", integer, "the highest total while it ran",
           "/peak_allocated_bytes"},
    column{"peak_event", integer, "", "/peak_event"},
    column{"allocated_bytes", integer, "summed over its allocations", "/allocated_bytes"},
    column{"freed_bytes", integer, "summed over its frees", "/freed_bytes"},
});

constexpr std::array frame_columns = {
    column{"frame", integer, "its number in this export, from 1"},
    column{"file", text, ""},
    column{"line_number", integer, "0: not known"},
    column{"function_name", text, "the qualified name where Python has one"},
    column{"is_user", integer, "1: not the standard library, not an installed package"},
    column{"line", text, "file:line function"},
};

constexpr std::array stack_columns = {
    column{"stack", integer, "its number in this export, from 1"},
    column{"caller", integer, "the stack without its innermost frame; missing: the outermost"},
    column{"frame", integer, "its innermost frame"},
    column{"depth", integer, "number of its frames"},
};

constexpr auto site_columns = owned(std::array{
    column{"device", integer, ""},
    column{"site", integer, "number of a frame; 0: no Python frame was running"},
    column{"line", text, "file:line function"},
    column{"file", text, ""},
    column{"line_number", integer, ""},
    column{"function_name", text, ""},
    column{"is_user", integer, "1: not the standard library, not an installed package"},
    column{"blocks", integer, "allocations that it asked for"},
    column{"block_bytes", integer, "of them, summed"},
    column{"peak_blocks", integer, "of them, those in use at the device's peak"},
    column{"peak_bytes", integer, "of those"},
    column{"unfreed_blocks", integer, "of them, those in use at the end"},
    column{"unfreed_bytes", integer, "of those"},
});

constexpr auto module_columns = owned(std::array{
    column{"device", integer, ""},
    column{"root", text, "class of the model; missing: memory of no module", "/root"},
    column{"module", text, "path in the model; empty: the model itself", "/path"},
    column{"module_type", text, "its class", "/type"},
    column{"weights_bytes", integer, "at the device's peak, without the modules in it",
           "/weights_bytes"},
    column{"buffers_bytes", integer, "", "/buffers_bytes"},
    column{"gradients_bytes", integer, "", "/gradients_bytes"},
    column{"optimizer_states_bytes", integer, "", "/optimizer_states_bytes"},
    column{"activations_bytes", integer, "", "/activations_bytes"},
    column{"other_bytes", integer, "of the other categories", "/other_bytes"},
    column{"total_bytes", integer, "of all", "/total_bytes"},
});

constexpr auto verdict_columns = owned(std::array{
    column{"verdict", integer, "its number in the process, from 0"},
    column{"subject", text, "device:0, reserved:0, outside:0, category:…, phase:…, host",
           "/subject"},
    column{"shape", text, "accumulating, steady, … as in the report", "/shape"},
    column{"bytes_per_step", real, "missing: not known", "/bytes_per_step"},
    column{"bytes_per_step_low", real, "of a 95 % interval", "/bytes_per_step_low"},
    column{"bytes_per_step_high", real, "", "/bytes_per_step_high"},
    column{"steps_to_oom", integer, "", "/steps_to_oom"},
    column{"time_to_oom_ns", integer, "", "/time_to_oom_ns"},
    column{"confidence", real, "0 to 1", "/confidence"},
    column{"is_negligible", integer, "1: too small to matter", "/negligible"},
    column{"more_steps_needed", integer, "before a firm answer; 0: this one is firm",
           "/more_steps_needed"},
    column{"summary", text, "a sentence", "/summary"},
    column{"fix", text, "what to write instead, where there is no culprit", "/fix/change"},
});

constexpr auto suspect_columns = owned(std::array{
    column{"verdict", integer, "of which it is one"},
    column{"culprit", integer, "its place among them, from 0"},
    column{"category", text, "", "/category"},
    column{"phase", text, "in which it is allocated", "/phase"},
    column{"bytes_per_step", real, "", "/bytes_per_step"},
    column{"share", real, "of the subject's growth, 0 to 1", "/share"},
    column{"bytes", integer, "in use at the end of the last step", "/bytes"},
    column{"blocks", integer, "", "/blocks"},
    column{"site", integer, "frame that asks for it: the user's innermost", "/frames"},
    column{"line", text, "the same as file:line function", "/frames"},
    column{"forward_line", text, "made in backward: line of the forward call", "/forward"},
    column{"confidence", real, "0 to 1", "/confidence"},
    column{"fix", text, "what to write instead", "/fix/change"},
});

constexpr auto retainer_columns = owned(std::array{
    column{"verdict", integer, ""},
    column{"culprit", integer, "whose memory it keeps alive"},
    column{"path", text, "as Python would write it: self.outputs[…]", "/path"},
    column{"bytes", integer, "", "/bytes"},
    column{"blocks", integer, "", "/blocks"},
    column{"container", text, "class of the innermost container", "/container"},
    column{"elements", integer, "of the container; 0: not known", "/length"},
    column{"owner", text, "what has the first name of the path: local of fit", "/owner"},
    column{"file", text, "", "/file"},
    column{"line_number", integer, "", "/line"},
    column{"bytes_per_step", real, "growth between censuses; 0: seen once", "/bytes_per_step"},
});

constexpr auto fragmentation_columns = owned(std::array{
    column{"device", integer, "", "/device"},
    column{"peak_reserved_bytes", integer, "", "/peak_reserved_bytes"},
    column{"peak_allocated_bytes", integer, "", "/peak_allocated_bytes"},
    column{"lower_bound_bytes", integer, "no allocator needs less", "/lower_bound_bytes"},
    column{"cause", text, "the largest part of what is unused", "/cause"},
    column{"matters", integer, "1: worth a person's attention", "/matters"},
    column{"summary", text, "a sentence", "/summary"},
    column{"event", integer, "when most was reserved: what follows is of that moment",
           "/at_peak/event"},
    column{"reserved_bytes", integer, "", "/at_peak/reserved_bytes"},
    column{"allocated_bytes", integer, "", "/at_peak/allocated_bytes"},
    column{"graph_pool_bytes", integer, "in no block, but replays of CUDA graphs need it",
           "/at_peak/graph_pool_bytes"},
    column{"unused_bytes", integer, "the rest, which the next columns divide",
           "/at_peak/unused_bytes"},
    column{"pending_frees_bytes", integer, "freed, but a stream may still use it",
           "/at_peak/unused/pending_frees"},
    column{"private_pools_bytes", integer, "cached in another pool",
           "/at_peak/unused/private_pools"},
    column{"other_streams_bytes", integer, "cached for another stream",
           "/at_peak/unused/other_streams"},
    column{"small_pool_bytes", integer, "free in segments of 2 MiB", "/at_peak/unused/small_pool"},
    column{"expandable_tails_bytes", integer, "mapped behind the last block",
           "/at_peak/unused/expandable_tails"},
    column{"segment_rounding_bytes", integer, "used by no request so far",
           "/at_peak/unused/segment_rounding"},
    column{"empty_segments_bytes", integer, "whole segments that are free",
           "/at_peak/unused/empty_segments"},
    column{"survivors_bytes", integer, "around a few long-lived blocks",
           "/at_peak/unused/survivors"},
    column{"split_bytes", integer, "free pieces between blocks in use", "/at_peak/unused/split"},
});

constexpr auto advice_columns = owned(std::array{
    column{"device", integer, "missing: the host, or a remedy for a verdict", "/device"},
    column{"place", integer, "1 is the first", "/rank"},
    column{"advice", text, "its name", "/id"},
    column{"title", text, "", "/title"},
    column{"change", text, "what to do", "/change"},
    column{"amount", text, "how much of it: settings, 1/2 of a batch, …", "/amount"},
    column{"saves_bytes", integer, "of reserved memory; missing: not known", "/saves_bytes"},
    column{"saves_bytes_per_step", real, "of growth", "/saves_bytes_per_step"},
    column{"saves_allocated_bytes", integer, "", "/saves_allocated_bytes"},
    column{"mends_out_of_memory", integer, "1: gets past the request that failed",
           "/mends_out_of_memory"},
    column{"proof", text, "replayed, measured or estimated", "/proof"},
    column{"evidence", text, "", "/evidence"},
    column{"cost", text, "", "/cost"},
    column{"not_when", text, "", "/not_when"},
    column{"caution", text, "", "/caution"},
    column{"subject", text, "of the verdict that it is a remedy for", "/subject"},
    column{"line", text, "where to change it", "/frames"},
});

constexpr auto oom_columns = owned(std::array{
    column{"device", integer, "", "/device"},
    column{"event", integer, "", "/event"},
    column{"time_ns", integer, "", "/time_ns"},
    column{"requested_bytes", integer, "rounded by the allocator", "/requested_bytes"},
    column{"free_bytes", integer, "of the device, as CUDA said then", "/free_bytes"},
    column{"largest_free_block_bytes", integer, "in any segment", "/largest_free_block_bytes"},
    column{"reserved_bytes", integer, "", "/reserved_bytes"},
    column{"allocated_bytes", integer, "", "/allocated_bytes"},
    column{"capacity_bytes", integer, "of the device", "/capacity_bytes"},
    column{"is_caught", integer, "1: an allocation succeeded afterwards, or exit status 0",
           "/caught"},
    column{"site", integer, "frame that asked: the user's innermost", "/frames"},
    column{"line", text, "the same as file:line function", "/frames"},
});

}  // namespace

const table processes{"processes", "a trace", process_columns, "process"};
const table devices{"devices", "a GPU of a process", device_columns, "process, device"};
const table events{"events", "a record of an allocator, of CUDA, or of a sample", event_columns,
                   "process, event"};
const table blocks{"blocks", "an allocation of PyTorch's, with its end", block_columns,
                   "process, allocated_event"};
const table steps{"steps", "a complete step of a GPU of a process", step_columns,
                  "process, device, step"};
const table phases{"phases", "a phase of training, or one that the program named", phase_columns};
const table frames{"frames", "a place in a Python file", frame_columns, "frame"};
const table stacks{"stacks", "a call stack: a frame and the stack of its caller", stack_columns,
                   "stack"};
const table sites{"sites", "a call site of a GPU of a process, with what it asked for",
                  site_columns, "process, device, site"};
const table modules{"modules", "a module of a model, with its own memory at the device's peak",
                    module_columns};
const table verdicts{"verdicts", "does it grow: one for each subject of a process", verdict_columns,
                     "process, verdict"};
const table suspects{"culprits", "a call site whose memory grows", suspect_columns,
                     "process, verdict, culprit"};
const table retainers{"keepers", "a name in the program that keeps a culprit's memory alive",
                      retainer_columns};
const table fragmentation{"fragmentation", "why more is reserved than allocated, of a GPU",
                          fragmentation_columns, "process, device"};
const table advice{"advice", "a change that saves memory", advice_columns};
const table oom{"oom", "a request for which there was no memory", oom_columns};

std::span<const table* const> all_tables() {
  static constexpr const table* all[] = {
      &processes, &devices, &events,   &blocks,   &steps,     &phases,        &sites,  &frames,
      &stacks,    &modules, &verdicts, &suspects, &retainers, &fragmentation, &advice, &oom};
  return all;
}

const table* table_named(std::string_view name) {
  const auto found =
      std::ranges::find(all_tables(), name, [](const table* one) { return one->name; });
  return found == all_tables().end() ? nullptr : *found;
}

}  // namespace memtrace::tables
