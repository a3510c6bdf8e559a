// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/host/judge_host.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/host/grid.h"
#include "analyzer/model/device/usage.h"

namespace memtrace::host {

namespace {

using format::host::limit_source;
using growth::shape;
using text::format_bytes;
using text::format_count;

struct gains {
  double proportional = 0;  // bytes
  double kept = 0;
  std::uint64_t still_shared = 0;  // what may yet be copied
  std::uint64_t workers = 0;
};

// While as many workers were there as at most.
[[nodiscard]] gains gains_of(const host_samples& from) {
  const auto& proportional = from.workers_proportional.samples();
  host_grid walks;
  for (const auto& one : proportional) walks.times.push_back(one.time_ns);
  const auto counts = at_points(from.workers.samples(), walks);
  const auto kept = at_points(from.workers_kept.samples(), walks);
  gains found{.workers = from.workers.peak()};
  std::size_t first = proportional.size();
  for (std::size_t i = 0; i < std::min(counts.size(), kept.size()); ++i) {
    if (counts[i] != found.workers) continue;
    first = std::min(first, i);
    found.proportional =
        static_cast<double>(proportional[i].bytes) - static_cast<double>(proportional[first].bytes);
    found.kept = static_cast<double>(kept[i]) - static_cast<double>(kept[first]);
    found.still_shared = kept[i] - std::min(kept[i], proportional[i].bytes);
  }
  return found;
}

// Copy on read: a forked DataLoader worker shares the parent's memory until either writes to it;
// and reading a Python object writes to it, because its reference count changes. So the workers'
// proportional memory grows though nobody keeps anything, until each has its own copy of what it
// reads. What tells it from a leak: what is resident in the workers stays the same, only that less
// and less of it is shared.
//
// If the workers' memory grew like that: says so in the verdict, and that it ends. False: it did
// not.
[[nodiscard]] bool tell_copies(verdicts::verdict& workers, const host_samples& samples) {
  constexpr double noticeable = 4 << 20;
  const auto gained = gains_of(samples);
  if (gained.proportional < noticeable || gained.kept > gained.proportional / 4) return false;
  const bool ended = workers.found.shape == shape::warmup_plateau;
  if (!ended && !is_leak(workers.found.shape)) return false;
  const auto grew = format_bytes(static_cast<std::uint64_t>(gained.proportional));
  workers.fix = verdicts::remedy{
      .id = "copy_on_read",
      .cause =
          "reading a Python object changes its reference count: the page it lies in, shared with "
          "the parent since the fork, is copied for the worker",
      .change =
          "keep the data set in NumPy or Arrow arrays, or in tensors, instead of lists and dicts "
          "of Python objects; or use fewer workers",
      .caution = "it ends by itself when each worker has its own copy of what it reads",
      .saves_bytes_per_step = 0};
  if (ended) {
    workers.summary = fmt::format(
        "memory of {} DataLoader workers grew by {} and stopped: each has its own copy by now of "
        "the "
        "Python objects that it reads (copy on read)",
        gained.workers, grew);
    return true;
  }
  workers.summary = fmt::format(
      "memory of {} DataLoader workers grows by {} a {}: each copies the Python objects that it "
      "reads "
      "(copy on read), which ends at most {} higher",
      gained.workers,
      format_bytes(static_cast<std::uint64_t>(std::llround(workers.bytes_per_step))), workers.unit,
      format_bytes(gained.still_shared));
  workers.found.overturned_by = "the workers having read everything once: then it stops";
  const bool fits = samples.limit && *samples.limit > samples.limit_used.last() &&
                    *samples.limit - samples.limit_used.last() > gained.still_shared;
  if (fits) workers.steps_to_oom = workers.ns_to_oom = std::nullopt;
  return true;
}

[[nodiscard]] std::string who(const verdicts::verdict& made) {
  if (made.about.kind == verdicts::subject_kind::outside && !made.about.name.empty()) {
    return fmt::format("memory on GPU {} of {}", made.about.device,
                       device::words_of_part(made.about.name));
  }
  if (made.about.kind == verdicts::subject_kind::outside) {
    return fmt::format("memory in use on GPU {} outside of PyTorch's pool", made.about.device);
  }
  if (made.about.name == "workers")
    return "host memory of the processes below it (DataLoader workers)";
  if (made.about.name == "pinned") return "pinned host memory";
  return "host memory of the process";
}

[[nodiscard]] std::string rate_of(const verdicts::verdict& made) {
  return format_bytes(static_cast<std::uint64_t>(std::llround(std::abs(made.bytes_per_step))));
}

[[nodiscard]] std::string growing(const verdicts::verdict& made) {
  const char* const how =
      made.found.shape == shape::stepwise ? "grows by jumps, on average by" : "grows by";
  auto text = fmt::format("{} {} {} a {}", who(made), how, rate_of(made), made.unit);
  if (made.found.negligible) text += ", which is negligible";
  if (made.steps_to_oom && made.limit) {
    text +=
        fmt::format("; {} of {} is reached in about {} {}s", made.limit->name,
                    format_bytes(made.limit->bytes), format_count(*made.steps_to_oom), made.unit);
  }
  return text;
}

// What came from the first step's end to the last one's: in all, and free in the C library's heap. Empty:
// the looks at the heap do not cover that.
struct heap_growth {
  std::uint64_t kept = 0;
  std::uint64_t free = 0;
};

[[nodiscard]] std::optional<heap_growth> heap_growth_of(const host_samples& samples,
                                                        std::span<const std::uint64_t> step_ends) {
  constexpr std::uint64_t apart = 2 * (64u << 20);  // looks, at most
  const auto& looks = samples.heap_free.samples();
  if (looks.size() < 2 || step_ends.size() < 2) return std::nullopt;
  const auto after = [&](std::uint64_t time) {
    return std::ranges::upper_bound(looks, time, {}, &sample::time_ns);
  };
  auto first = after(step_ends.front());
  if (first != looks.begin()) --first;
  auto last = after(step_ends.back());
  if (last == looks.begin() || --last <= first) return std::nullopt;
  const auto kept_at = [&](std::uint64_t time) {
    host_grid at;
    at.times = {time};
    return at_points(samples.kept.samples(), at).front();
  };
  const auto lies_apart = [&](std::uint64_t look, std::uint64_t end) {
    const auto then = kept_at(look);
    const auto at_end = kept_at(end);
    return std::max(then, at_end) - std::min(then, at_end) > apart;
  };
  if (lies_apart(first->time_ns, step_ends.front()) ||
      lies_apart(last->time_ns, step_ends.back())) {
    return std::nullopt;
  }
  const auto before = kept_at(first->time_ns);
  const auto now = kept_at(last->time_ns);
  if (now <= before || last->bytes <= first->bytes) return std::nullopt;
  return heap_growth{now - before, std::min(last->bytes - first->bytes, now - before)};
}

// glibc's heap grows at its end alone, and gives back what is free there. A large buffer that is freed
// leaves a hole; where small objects that stay are put into it, the next large buffer finds no room.
// Nobody keeps what grows then: it is free.
void tell_free_heap(verdicts::verdict& made, const host_samples& samples,
                    std::span<const std::uint64_t> step_ends) {
  if (!is_leak(made.found.shape)) return;
  const auto grown = heap_growth_of(samples, step_ends);
  if (!grown || grown->free < grown->kept / 2) return;
  const auto part = static_cast<double>(grown->free) / static_cast<double>(grown->kept);
  made.fix = verdicts::remedy{
      .id = "free_heap",
      .cause = fmt::format(
          "{} of the {} that came are free memory in the C library's heap: probably large buffers "
          "are freed, and small objects that stay lie in the holes, so that the next large one is "
          "put behind them",
          format_bytes(grown->free), format_bytes(grown->kept)),
      .change =
          "set MALLOC_MMAP_THRESHOLD_=1048576 in the environment: a buffer from 1 MiB on is then "
          "given back by itself (or use jemalloc)",
      .caution = "the kernel clears each buffer that is mapped anew, which takes time",
      .saves_bytes_per_step = made.bytes_per_step * part};
  made.summary += fmt::format("; {:.0f} % of that is free memory in malloc's heap", 100 * part);
}

[[nodiscard]] std::string sentence(const verdicts::verdict& made) {
  switch (made.found.shape) {
    case shape::accumulating:
    case shape::stepwise:
    case shape::sawtooth_leak:
      return growing(made);
    case shape::sawtooth:
      return who(made) + " rises and falls, and does not grow";
    case shape::bounded_records:
    case shape::warmup_plateau:
    case shape::steady:
      return fmt::format("{} {}", who(made), words_of(made.found.shape));
    case shape::unknown:
      return who(made) + ": too few samples or steps to tell whether it grows";
  }
  return {};
}

}  // namespace

std::string_view name_of(limit_source from) {
  switch (from) {
    case limit_source::machine:
      return "the machine's memory";
    case limit_source::cgroup_v2:
      return "the container's limit (cgroup v2 memory.max)";
    case limit_source::cgroup_v1:
      return "the container's limit (cgroup v1 memory.limit_in_bytes)";
    case limit_source::address_space:
      return "the process's limit of address space (ulimit -v)";
    case limit_source::data:
      return "the process's limit of data (ulimit -d)";
  }
  return "a limit";
}

std::string open_growth(const verdicts::verdict& made, double bytes_per_step,
                        std::string_view why) {
  return fmt::format("{} grew by {} a {}{}", who(made),
                     format_bytes(static_cast<std::uint64_t>(std::llround(bytes_per_step))),
                     made.unit, why);
}

void describe(verdicts::verdict& made, const host_samples& samples,
              std::span<const std::uint64_t> step_ends) {
  if (made.about.name == "workers" && tell_copies(made, samples)) return;
  const bool of_host = made.about.kind == verdicts::subject_kind::host;
  if (of_host && made.steps_to_oom && samples.limit && samples.limit_from) {
    made.limit = {std::string(name_of(*samples.limit_from)), *samples.limit};
  }
  made.summary = sentence(made);
  if (of_host && made.about.name.empty()) tell_free_heap(made, samples, step_ends);
}

}  // namespace memtrace::host
