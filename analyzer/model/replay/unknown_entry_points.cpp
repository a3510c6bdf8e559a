// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/replay/unknown_entry_points.h"

#include <algorithm>

#include "analyzer/base/text/utf8.h"
#include "memtrace/trace_format.h"

namespace memtrace::replay {
namespace {

// The recorder keeps as many, of at most 95 characters; a damaged trace may claim more.
constexpr std::size_t most = 256;
constexpr std::size_t longest = 128;

}  // namespace

void unknown_entry_points::add(const trace::operation_event& record) {
  if (record.operation != static_cast<std::uint64_t>(format::operation::unknown_entry_point)) {
    return;
  }
  // Shortened, it may end within a character.
  unknown_entry_point found{text::valid_utf8(record.text.substr(0, longest)), record.a,
                            record.b != 0};
  const bool is_known = std::any_of(all_.begin(), all_.end(), [&](const auto& one) {
    return one.name == found.name && one.is_another == found.is_another;
  });
  if (!is_known && all_.size() < most) all_.push_back(std::move(found));
}

}  // namespace memtrace::replay
