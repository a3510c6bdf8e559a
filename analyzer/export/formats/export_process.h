// SPDX-License-Identifier: Apache-2.0
//
// A trace to a sink: loaded as for a report, so that what it says is known, and then told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/export/formats/feed.h"
#include "analyzer/export/formats/sink.h"
#include "analyzer/run/model/load.h"
#include "analyzer/run/model/wanted_moment.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::exporting {

struct chosen {
  std::optional<run::wanted_moment> at;
  std::optional<run::wanted_moment> from;  // a step: from its begin
  std::optional<run::wanted_moment> to;    // a step: to its end
  std::size_t number = 0;                  // process::number
};

struct exported {
  trace::completeness completeness;
  // Why nothing or not all was told; none: all was.
  std::optional<std::string> problem;
};

// `cancelled`: asked now and then; true: the rest is not told.
[[nodiscard]] exported export_process(
    const std::string& path, trace::reader& reader, sink& to, const chosen& wanted,
    const run::load_options& how, const std::function<void(const trace::progress&)>& on_progress,
    const std::function<bool()>& cancelled);

// The rank that the program said it is, found without reading the trace to its end.
[[nodiscard]] std::optional<std::uint64_t> rank_of(const trace::reader& reader);

}  // namespace memtrace::exporting
