// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/module_uses.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "analyzer/model/attribution/module_table.h"

namespace memtrace::verdicts {

namespace {

using components = std::vector<std::string>;

[[nodiscard]] components components_of(std::string_view path) {
  components found;
  while (!path.empty()) {
    const auto end = std::min(path.find('.'), path.size());
    found.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return found;
}

// A part that differs from path to path is an item; all that comes after the last such is left out.
[[nodiscard]] std::string common_place(const std::set<components>& paths) {
  std::size_t length = SIZE_MAX;
  for (const auto& one : paths) length = std::min(length, one.size());
  std::string place;
  std::string text;
  for (std::size_t i = 0; paths.size() > 1 && i < length; ++i) {
    const auto& name = (*paths.begin())[i];
    const bool differs =
        std::ranges::any_of(paths, [&](const components& one) { return one[i] != name; });
    text += differs ? "[…]" : (text.empty() ? "" : ".") + name;
    if (differs) place = text;
  }
  return place;
}

// How often a name that is no number stands in a row, at most: 2 in "0.base.base.down".
[[nodiscard]] std::size_t longest_chain(std::string_view path) {
  std::size_t longest = 0;
  std::size_t run = 0;
  std::string_view before;
  while (!path.empty()) {
    const auto end = std::min(path.find('.'), path.size());
    const auto name = path.substr(0, end);
    const bool is_number = name.find_first_not_of("0123456789") == name.npos;
    run = is_number ? 0 : name == before ? run + 1 : 1;
    longest = std::max(longest, run);
    before = name;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return longest;
}

}  // namespace

void module_uses::named(const trace::module_event& record) {
  if (objects_.size() == most_modules) return;
  const std::string_view path = names_[record.path];
  objects_[{record.root, std::string(path)}] = record.object;
  constexpr std::size_t enough = 3;  // times; one or two may be how the model is written
  const auto chain = longest_chain(path);
  const auto first = first_chains_.try_emplace(record.object.value, chain).first->second;
  if (chain >= first + enough) wrapped_.insert(record.root.value);
}

void module_uses::ran(trace::object_id module, std::uint64_t step) {
  const auto [known, is_new] = ran_.try_emplace(module.value, times{step});
  if (is_new) return;
  known->second.after_a_pause |= step > known->second.last + 1;
  known->second.last = step;
}

void module_uses::kept(std::uint32_t device, std::uint32_t site, trace::object_id root,
                       std::string_view parameter, std::uint64_t bytes, std::uint64_t until) {
  if (kept_.size() == most_modules) return;
  kept_.emplace(std::pair(device, site),
                weights{root, std::string(attribution::parent_path(parameter)), bytes, until});
}

bool module_uses::ran_lately(trace::object_id module, std::uint64_t steps) const {
  constexpr std::uint64_t recent = 2;
  const auto known = ran_.find(module.value);
  return known != ran_.end() && known->second.last + recent >= steps;
}

bool module_uses::all_run(std::uint32_t device, std::uint32_t site, std::uint64_t steps) const {
  std::uint64_t all = 0;
  std::uint64_t running = 0;
  trace::object_id root;
  const auto [begin, end] = kept_.equal_range({device, site});
  for (auto at = begin; at != end; ++at) {
    const auto& one = at->second;
    if (one.until < steps) continue;
    if (root && root != one.root) return false;
    root = one.root;
    all += one.bytes;
    const auto object = objects_.find({one.root, one.module});
    if (object != objects_.end() && ran_lately(object->second, steps)) running += one.bytes;
  }
  return all != 0 && running >= all - all / 10;
}

bool module_uses::take_turns(std::uint32_t device, std::uint32_t site) const {
  const auto [begin, end] = kept_.equal_range({device, site});
  return std::any_of(begin, end, [&](const auto& entry) {
    const auto object = objects_.find({entry.second.root, entry.second.module});
    if (object == objects_.end()) return false;
    const auto known = ran_.find(object->second.value);
    return known != ran_.end() && known->second.after_a_pause;
  });
}

bool module_uses::model_runs(std::uint32_t device, std::uint32_t site, std::uint64_t steps) const {
  const auto [begin, end] = kept_.equal_range({device, site});
  return std::any_of(begin, end, [&](const auto& entry) {
    const auto& one = entry.second;
    return one.until >= steps && ran_lately(one.root, steps);
  });
}

bool module_uses::wrap_each_other(std::uint32_t device, std::uint32_t site,
                                  std::uint64_t steps) const {
  const auto [begin, end] = kept_.equal_range({device, site});
  return std::any_of(begin, end, [&](const auto& entry) {
    return entry.second.until >= steps && wrapped_.contains(entry.second.root.value);
  });
}

std::string module_uses::part_of(std::uint32_t device, std::uint32_t site,
                                 std::uint64_t steps) const {
  std::set<std::vector<std::string>> paths;
  trace::object_id root;
  const auto [begin, end] = kept_.equal_range({device, site});
  for (auto at = begin; at != end; ++at) {
    const auto& one = at->second;
    if (one.until < steps) continue;
    if (root && root != one.root) return {};
    root = one.root;
    paths.insert(components_of(one.module));
  }
  return common_place(paths);
}

}  // namespace memtrace::verdicts
