// SPDX-License-Identifier: Apache-2.0
//
// Whether the hooks and CUPTI saw the same allocations: the audit of one trace.
//
//   reader ─► collector ─► match ─► judge ─► JSON, text
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analyzer/base/text/page.h"
#include "analyzer/show/audit/collector.h"
#include "analyzer/show/audit/match.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::audit {

enum class agreement {
  same,        // one by one
  different,   // at least one allocation or release was seen by one only, or with another size
  nothing,     // neither saw anything of the kinds that both can see
  no_witness,  // CUPTI was not asked for, or not to be had
};

// An allocation or a release that the other one missed, or saw with another size.
struct finding {
  sighting seen;
  std::string api;    // the hooks'
  std::string owner;  // the library that asked, where it is known
  std::vector<code::source_frame> frames;
  std::uint64_t other_bytes = 0;  // with another size: what CUPTI said
};

struct totals {
  std::uint64_t allocations = 0;
  std::uint64_t releases = 0;
  std::uint64_t bytes = 0;
};

struct trace_audit {
  std::string path;
  std::uint64_t pid = 0;
  audit::agreement verdict = agreement::no_witness;
  testimony told;  // but for the sightings
  totals ours, theirs;
  std::uint64_t allocations = 0, releases = 0, bytes = 0;  // seen by both
  std::vector<finding> missed_by_cupti, missed_by_hooks, other_size;
  // Before CUPTI listened or after it; and seen by one only within `edge_ns` of these moments.
  std::uint64_t outside = 0;
  std::uint64_t at_the_edge = 0;
  // How long CUPTI listened.
  std::uint64_t listened_ns = 0;
  trace::completeness facts;
};

// Calls under way just when CUPTI begins or ends may be seen by one only.
inline constexpr std::int64_t edge_ns = 2'000'000;

[[nodiscard]] trace_audit audit_trace(const std::string& path, trace::reader& reader);

// Audits as JSON, by audit.schema.json beside this file.
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<trace_audit>& traces);

// An audit for a person at a terminal.

// At most `shown` of the allocations that one of them missed; 0: all.
[[nodiscard]] std::string to_text(const trace_audit& audit, std::size_t shown,
                                  const text::style& style);

}  // namespace memtrace::audit
