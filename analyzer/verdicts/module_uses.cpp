// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/module_uses.h"

#include "analyzer/attribution/module_table.h"

namespace memtrace::verdicts {

void module_uses::named(const trace::module_event& record) {
  if (objects_.size() == most_modules) return;
  objects_[{record.root, std::string(names_[record.path])}] = record.object;
}

void module_uses::kept(std::uint32_t device, std::uint32_t site, trace::object_id root,
                       std::string_view parameter, std::uint64_t bytes, std::uint64_t until) {
  if (kept_.size() == most_modules) return;
  kept_.emplace(std::pair(device, site),
                weights{root, std::string(attribution::parent_path(parameter)), bytes, until});
}

bool module_uses::all_run(std::uint32_t device, std::uint32_t site, std::uint64_t steps) const {
  constexpr std::uint64_t recent = 2;
  std::uint64_t all = 0;
  std::uint64_t running = 0;
  const auto [begin, end] = kept_.equal_range({device, site});
  for (auto at = begin; at != end; ++at) {
    const auto& one = at->second;
    if (one.until < steps) continue;
    all += one.bytes;
    const auto object = objects_.find({one.root, one.module});
    if (object == objects_.end()) continue;
    const auto last = last_.find(object->second.value);
    if (last != last_.end() && last->second + recent >= steps) running += one.bytes;
  }
  return all != 0 && running >= all - all / 10;
}

}  // namespace memtrace::verdicts
