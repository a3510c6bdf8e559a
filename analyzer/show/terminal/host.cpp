// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/host.h"

#include <fmt/core.h>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/host/judge_host.h"

namespace memtrace::terminal {

namespace {

// Beyond this a few more workers, or a checkpoint being written, are enough.
constexpr double near_share = 0.9;

[[nodiscard]] double share_of_limit(const host::host_samples& host) {
  if (!host.limit || *host.limit == 0 || !host.limit_from) return 0;
  return static_cast<double>(host.limit_used.peak()) / static_cast<double>(*host.limit);
}

}  // namespace

void add_host_limit(text::page& out, const run::run_report& processes) {
  const host::host_samples* nearest = nullptr;
  for (const auto& process : processes) {
    const double share = share_of_limit(process.host);
    if (share < near_share) continue;
    if (nearest == nullptr || share > share_of_limit(*nearest)) nearest = &process.host;
  }
  if (nearest == nullptr) return;
  out.line(fmt::format("Host memory came to {} of {}: {}",
                       text::format_bytes(nearest->limit_used.peak()),
                       text::format_bytes(*nearest->limit), host::name_of(*nearest->limit_from)));
}

}  // namespace memtrace::terminal
