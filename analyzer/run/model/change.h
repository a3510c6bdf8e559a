// SPDX-License-Identifier: Apache-2.0
//
// A change to make in a program, whoever found it: a piece of advice that was proved, the remedy of
// what grows, or a habit that costs and does not help. Sizes are bytes; what is not known, or is no
// matter of this kind of change, is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::run {

enum class change_from : std::uint8_t { advice, remedy, habit };

struct change {
  change_from from = change_from::advice;
  std::string id;      // detach_loss, expandable_segments
  std::string title;   // what happens now
  std::string amount;  // of how much of it: "1/2" of a batch
  std::string what;    // exact setting or code
  std::string evidence;
  std::optional<advice::concern> about;
  std::string source;
  std::string cost;
  std::string not_when;
  std::string caution;
  std::string group;    // of those of one group only one can be followed
  std::string subject;  // of the verdict that it is a remedy of: device:0
  std::optional<std::uint32_t> device;
  std::uint64_t pid = 0;
  std::vector<code::source_frame> frames;  // the line that it is about, innermost first
  advice::proof how = advice::proof::measured;

  std::uint64_t saves_bytes = 0;  // of peak reserved, or that have stayed
  std::optional<double> saves_bytes_per_step;
  std::optional<std::uint64_t> saves_bytes_most;  // with the best addresses
  std::optional<std::int64_t> saves_allocated;
  std::optional<std::int64_t> saves_capacity;  // of the smallest GPU that it fits into
  std::optional<std::uint64_t> saves_host_bytes;
  std::optional<std::uint64_t> saves_ns;
  std::optional<std::uint64_t> retries_before;
  std::optional<std::uint64_t> retries_after;
  bool mends_out_of_memory = false;
  bool gets_past_request = false;  // and nothing says what follows
  bool is_settled = false;         // of what mends it: what follows is known
  bool free = false;  // costs neither time nor accuracy: settings, what the program can do without

  // One before it, of the same process, is the better one of its group.
  bool superseded = false;
  // It says more of a habit, which it supersedes.
  bool takes_place_of_habit = false;
  // Where it stands: what memory ran out for first, then what is free, then by these bytes. As many as it saves; or
  // more, where it is ranked before what saves a little more.
  bool stands_first = false;
  std::uint64_t stands_at = 0;
};

}  // namespace memtrace::run
