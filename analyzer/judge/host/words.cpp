// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/host/words.h"

#include <fmt/core.h>

#include <cmath>

#include "analyzer/base/text/units.h"
#include "analyzer/judge/host/worker_copies.h"
#include "analyzer/model/device/usage.h"

namespace memtrace::host {

namespace {

using format::host::limit_source;
using growth::shape;
using text::format_bytes;
using text::format_count;

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

[[nodiscard]] std::string sentence(const verdicts::verdict& made) {
  switch (made.found.shape) {
    case shape::accumulating:
    case shape::stepwise:
    case shape::sawtooth_leak:
      return growing(made);
    case shape::sawtooth:
      return who(made) + " rises and falls, and does not grow";
    case shape::bounded_records:
      return who(made) + " rises ever more rarely: a largest input so far";
    case shape::warmup_plateau:
      return who(made) + " grew at first and stopped growing";
    case shape::steady:
      return who(made) + " is steady";
    case shape::unknown:
      return who(made) + ": too few samples to tell whether it grows";
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

void describe(verdicts::verdict& made, const host_samples& samples) {
  if (made.about.name == "workers" && tell_copies(made, samples)) return;
  const bool of_host = made.about.kind == verdicts::subject_kind::host;
  if (of_host && made.steps_to_oom && samples.limit && samples.limit_from) {
    made.limit = {std::string(name_of(*samples.limit_from)), *samples.limit};
  }
  made.summary = sentence(made);
}

}  // namespace memtrace::host
