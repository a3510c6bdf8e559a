// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/fit/host_side.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"

namespace memtrace::fit {

std::optional<host_side> host_side_of(const std::vector<host_point>& seen) {
  host_side made;
  double sum_x = 0;
  double sum_y = 0;
  std::uint64_t largest = 0;
  for (const auto& one : seen) {
    if (one.used.together == 0) continue;
    ++made.points;
    sum_x += static_cast<double>(one.batch);
    sum_y += static_cast<double>(one.used.together);
    if (one.batch < largest) continue;
    largest = one.batch;
    made.most = one.used;
  }
  if (made.points == 0) return std::nullopt;
  const auto count = static_cast<double>(made.points);
  double square = 0;
  double product = 0;
  for (const auto& one : seen) {
    if (one.used.together == 0) continue;
    const auto x = static_cast<double>(one.batch) - sum_x / count;
    square += x * x;
    product += x * (static_cast<double>(one.used.together) - sum_y / count);
  }
  if (square > 0) made.per_item = std::max(0.0, product / square);
  made.constant = (sum_y - made.per_item * sum_x) / count;
  return made;
}

namespace {

[[nodiscard]] std::string workers_of(const host_use& used) {
  if (used.workers == 0) return {};
  const auto count = fmt::format("{} worker{}", used.workers, used.workers == 1 ? "" : "s");
  if (used.looked_at == 0) return fmt::format("; {} beside it that were not looked at", count);
  auto text = fmt::format("; {} with {} each at most, which one worker more would add", count,
                          text::format_bytes(used.worker_peak));
  if (used.looked_at < used.workers) {
    const auto others = (used.workers - used.looked_at) * used.worker_peak;
    text += fmt::format("; {} of them were looked at, so that it may be {} more", used.looked_at,
                        text::format_bytes(others));
  }
  return text;
}

}  // namespace

std::string sentence_of(const host_side& found, std::uint64_t batch) {
  const auto bytes = [](double value) {
    return text::format_bytes(static_cast<std::uint64_t>(std::max(0.0, value)));
  };
  const auto at = found.constant + found.per_item * static_cast<double>(batch);
  auto text = found.per_item == 0
                  ? fmt::format("{} whatever the batch", bytes(found.constant))
                  : fmt::format("{} + {} · batch = {} at batch {}", bytes(found.constant),
                                bytes(found.per_item), bytes(at), batch);
  text += fmt::format(", from {} dry run{}", found.points, found.points == 1 ? "" : "s");
  text += workers_of(found.most);
  if (found.most.pinned != 0) {
    text += fmt::format("; {} of it pinned", text::format_bytes(found.most.pinned));
  }
  if (found.most.limit != 0) {
    const auto share = 100 * at / static_cast<double>(found.most.limit);
    text += fmt::format(
        "; that is {:.0f} % of the limit of {}{}", share, text::format_bytes(found.most.limit),
        share > 80 ? ": more than 80 % leaves little for what else runs there" : "");
  }
  return text;
}

}  // namespace memtrace::fit
