// SPDX-License-Identifier: Apache-2.0
//
// A recorded program's requests replayed under other allocator options, or on another GPU: what
// `memtrace replay` shows. Sizes are bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/model/allocator/exactness.h"
#include "analyzer/model/allocator/settings.h"
#include "analyzer/model/allocator/what_if.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::what_if {

struct replay_wishes {
  std::vector<std::string> alloc_confs;      // empty: the usual ones
  std::optional<std::uint64_t> total_bytes;  // of another GPU; empty: the recorded one
};

// The line of the program behind an event.
struct replay_place {
  std::string where;                       // "train.py:12 main"
  std::vector<code::source_frame> frames;  // innermost first
};

struct replayed_option {
  std::string alloc_conf;  // as PyTorch would be given it; empty: nothing set
  bool is_recorded = false;
  allocator::range_of_outcomes range;
  std::optional<allocator::smallest_fit> fits;
  replay_place runs_out_at;  // where the worst outcome does
  // Allocations before the one that runs out of memory: in the worst outcome, and in the best.
  std::uint64_t allocations_before = 0;
  std::uint64_t most_allocations_before = 0;
};

struct replayed_device {
  std::uint32_t index = 0;
  std::string name;  // of the recorded GPU
  std::uint64_t requests = 0;
  std::uint64_t total_bytes = 0;    // of the device replayed on; 0: without limit
  std::uint64_t usable_bytes = 0;   // by the allocator
  std::uint64_t outside_bytes = 0;  // of the total, outside of the allocator
  bool on_recorded_device = true;
  std::uint64_t capacity_step = 0;  // of the capacities that were tested
  allocator::exactness exact;
  std::vector<std::string> doubts;
  std::size_t recorded_refusals = 0;     // out-of-memory errors in the recorded run
  std::vector<replayed_option> options;  // the recorded ones first
  std::size_t asked_for = 0;             // of them, the first that was asked for, if any was
};

struct replayed_process {
  std::string path;
  std::uint64_t pid = 0;
  std::string torch_version;
  trace::completeness completeness;
  std::vector<replayed_device> devices;
  // Why nothing was replayed, in a sentence with a remedy; empty: all is well.
  std::string refusal;
};

[[nodiscard]] replayed_process replay_trace(
    const std::string& path, trace::reader& reader, const replay_wishes& wanted,
    const std::function<void(const trace::progress&)>& on_progress = {});

// The allocator options that a replay tries: those asked for, or the usual ones.
struct option_to_try {
  std::string text;
  allocator::settings settings;
};

struct options_to_try {
  std::vector<option_to_try> options;
  std::string refusal;  // of the first that PyTorch refuses, in its words; empty: none
};

// `asked` empty: options that help some programs, as far as that version of PyTorch knows them.
[[nodiscard]] options_to_try choose_options(const std::vector<std::string>& asked,
                                            std::string_view torch_version);

// The lines of the program behind some events of a trace, from one more pass over it.
[[nodiscard]] std::map<std::uint64_t, replay_place> find_places(
    trace::reader reader, const std::set<std::uint64_t>& events);

// As `memtrace replay` prints it.
[[nodiscard]] std::string to_text(const std::vector<replayed_process>& processes,
                                  const text::style& style);

// The peak of reserved memory that a row stands for: of the recorded options on the recorded device
// the one that was there, of others that of the worst addresses.
[[nodiscard]] const allocator::outcome& representative(const replayed_device& device,
                                                       const replayed_option& option);

// As `memtrace replay --json` writes it: see replay.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<replayed_process>& processes);

}  // namespace memtrace::what_if
