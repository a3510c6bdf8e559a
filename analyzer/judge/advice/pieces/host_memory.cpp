// SPDX-License-Identifier: Apache-2.0
//
// Host memory: DataLoader workers beside the container's limit, and pinned memory.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::advice {

namespace {

// People aim at this share of a container's limit: the kernel's own memory and spikes need the
// rest.
constexpr double target = 0.80;
// Less pinned memory is what any DataLoader needs.
constexpr std::uint64_t least_pinned = std::uint64_t{256} << 20;

[[nodiscard]] proposals workers(const blocks::evidence& of) {
  const auto& host = of.host;
  if (!host.limit || host.by_worker.empty()) return {};
  const auto wanted = static_cast<std::uint64_t>(target * static_cast<double>(*host.limit));
  const auto used = host.limit_used.peak();
  const auto count = host.workers.peak();
  const auto together = host.workers_proportional.peak();
  if (used <= wanted || count == 0 || together == 0) return {};
  const auto each = together / count;
  const auto fewer =
      std::min<std::uint64_t>(count, (used - wanted + each - 1) / std::max<std::uint64_t>(each, 1));
  if (fewer == 0) return {};
  proposal made;
  made.id = "workers";
  made.amount = fmt::format("{}->{}", count, count - fewer);
  made.title = "Host memory is above 80 % of its limit, and DataLoader workers hold part of it";
  made.change = fmt::format("num_workers={} (now {}): all that are left out", count - fewer, count);
  made.evidence = fmt::format(
      "{} of the limit of {} in use; {} workers hold {} (proportional, shared pages counted once)",
      bytes_in_words(used), bytes_in_words(*host.limit), count, bytes_in_words(together));
  made.cost = "loading is slower where the workers were what steps wait for";
  made.not_when = "a worker's memory is mostly shared with the others (PSS far below RSS)";
  made.how = proof::measured;
  made.saves_host_bytes = fewer * each;
  return {std::move(made)};
}

// Process groups stage their transfers in pinned memory (gloo does), engines move sleeping weights
// there, and what a DataLoader pins is pinned as it is needed already: the program's own lines did
// not ask for it.
[[nodiscard]] bool is_pinned_for_the_program(const blocks::evidence& of, trace::stack_id stack) {
  std::optional<bool> by_library;
  for (; stack; stack = of.names[stack].parent) {
    const auto file = of.names[of.names[of.names[stack].innermost].file];
    if (file.find("torch/distributed/") != std::string_view::npos ||
        file.find("torch/utils/data/") != std::string_view::npos ||
        file.ends_with("torch/nn/parallel/distributed.py")) {
      return true;
    }
    const bool own = code::is_user_code(file);
    if (!by_library && (own || code::is_model_library(file))) by_library = !own;
  }
  return by_library.value_or(false);
}

// The most that the program's own Python code had pinned at once.
[[nodiscard]] std::uint64_t pinned_by_program(const blocks::evidence& of) {
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const auto& change : of.replayed.driver().pinned_changes()) {
    if (change.site.is_thread) continue;
    if (is_pinned_for_the_program(of, trace::stack_id{change.site.number})) continue;
    now += change.difference;
    most = std::max(most, now);
  }
  return static_cast<std::uint64_t>(most);
}

[[nodiscard]] proposals pinned(const blocks::evidence& of) {
  const auto peak = pinned_by_program(of);
  if (peak < least_pinned) return {};
  proposal made;
  made.id = "pinned_memory";
  made.title = fmt::format("{} of host memory are pinned at once", bytes_in_words(peak));
  made.change =
      "pin batches as they are needed (DataLoader(pin_memory=True), prefetch_factor=2), not whole "
      "data sets or queues; what is pinned stays cached until the program ends";
  made.evidence = "each buffer is rounded up to a power of two";
  if (of.host.peak != 0) {
    made.evidence += fmt::format("; the process has {} at its peak", bytes_in_words(of.host.peak));
  }
  made.source = "PyTorch, CachingHostAllocator: the next power of two of each buffer";
  made.cost = "copies to the GPU from memory that is not pinned are slower and wait";
  made.not_when = "copies overlap with computation, and the host has memory to spare";
  made.how = proof::measured;
  made.saves_host_bytes = peak;
  return {std::move(made)};
}

}  // namespace

proposals host_memory(const blocks::evidence& of) {
  auto all = workers(of);
  auto more = pinned(of);
  std::move(more.begin(), more.end(), std::back_inserter(all));
  return all;
}

}  // namespace memtrace::advice
