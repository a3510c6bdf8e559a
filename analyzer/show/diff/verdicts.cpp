// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/diff/verdicts.h"

#include <algorithm>
#include <map>

#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/run/model/causes.h"
#include "analyzer/trace/code/moved_lines.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::diff {

namespace {

using verdicts::subject_kind;

[[nodiscard]] bool is_leak(const verdicts::verdict* one) {
  return one != nullptr && verdicts::is_leak(*one);
}

// Sites and categories are in the verdict of the device.
[[nodiscard]] bool is_compared(const verdicts::verdict& one, std::uint32_t device) {
  const auto kind = one.about.kind;
  if (kind == subject_kind::site || kind == subject_kind::category) return false;
  return kind == subject_kind::host || one.about.device == device;
}

// The same key for a device that has another number in the other run.
[[nodiscard]] std::string key_of(const verdicts::verdict& one, std::uint32_t device) {
  auto about = one.about;
  if (about.kind != subject_kind::host) about.device = device;
  return verdicts::name_of(about);
}

[[nodiscard]] std::string place_of(const run::process_report& process,
                                   const verdicts::suspect& who) {
  const auto& own = run::frames_at(process, who.stack);
  if (const auto& forward = run::frames_at(process, who.forward); own.empty() && !forward.empty()) {
    return "backward of " + code::short_place(forward, {});
  }
  return code::short_place(own, {});
}

struct growth_at {
  double bytes_per_step = 0;
  std::string kept_by;
};

[[nodiscard]] std::map<std::string, growth_at> lines_of(const of_device& which,
                                                        const verdicts::verdict& verdict) {
  std::map<std::string, growth_at> lines;
  for (const auto& cause : run::causes_of(verdict)) {
    auto& line = lines[place_of(which.process, *cause.largest)];
    line.bytes_per_step += cause.bytes_per_step;
    const auto& retainers = cause.largest->retained_by;
    if (line.kept_by.empty() && !retainers.empty())
      line.kept_by = verdicts::describe(retainers.front());
  }
  return lines;
}

// Where several verdicts name a line (the device's, and a phase's), its largest rate.
[[nodiscard]] std::map<std::string, growth_at> lines_of(const of_device& which) {
  std::map<std::string, growth_at> lines;
  for (const auto& one : which.process.findings.verdicts) {
    const auto kind = one.about.kind;
    const bool told = kind == subject_kind::device || kind == subject_kind::phase ||
                      kind == subject_kind::reserved;
    if (!told || one.about.device != which.device || !is_leak(&one)) continue;
    for (const auto& [name, found] : lines_of(which, one)) {
      auto& line = lines[name];
      line.bytes_per_step = std::max(line.bytes_per_step, found.bytes_per_step);
      if (line.kept_by.empty()) line.kept_by = found.kept_by;
    }
  }
  return lines;
}

}  // namespace

std::vector<verdict_pair> compare_verdicts(const of_device& before, const of_device& after) {
  std::vector<verdict_pair> pairs;
  const auto at = [&](const std::string& subject) -> verdict_pair& {
    const auto known = std::ranges::find(pairs, subject, &verdict_pair::subject);
    if (known != pairs.end()) return *known;
    pairs.push_back({subject, nullptr, nullptr});
    return pairs.back();
  };
  for (const auto& one : before.process.findings.verdicts) {
    if (is_compared(one, before.device)) at(key_of(one, after.device)).before = &one;
  }
  for (const auto& one : after.process.findings.verdicts) {
    if (is_compared(one, after.device)) at(key_of(one, after.device)).after = &one;
  }
  const auto is_device = [](const verdict_pair& pair) {
    const auto& one = pair.after == nullptr ? *pair.before : *pair.after;
    return one.about.kind == subject_kind::device;
  };
  std::erase_if(pairs, [&](const verdict_pair& pair) {
    return !is_device(pair) && !is_leak(pair.before) && !is_leak(pair.after);
  });
  // Not std::ranges::stable_partition: clang cannot compile libstdc++'s subrange.
  std::stable_partition(pairs.begin(), pairs.end(), is_device);
  return pairs;
}

std::vector<growing_line> compare_growth(const of_device& before, const of_device& after) {
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  std::vector<growing_line> rows;
  for (const auto& [old_name, new_name] :
       code::pair_lines(code::names_of(old_lines), code::names_of(new_lines))) {
    growing_line row;
    row.name = new_name.empty() ? old_name : new_name;
    if (!new_name.empty() && old_name != new_name) row.name_before = old_name;
    if (!old_name.empty()) {
      row.before = old_lines.at(old_name).bytes_per_step;
      row.kept_by = old_lines.at(old_name).kept_by;
    }
    if (!new_name.empty()) {
      const auto& grows = new_lines.at(new_name);
      row.after = grows.bytes_per_step;
      if (!grows.kept_by.empty()) row.kept_by = grows.kept_by;
    }
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater(),
                           [](const growing_line& row) { return std::max(row.before, row.after); });
  return rows;
}

}  // namespace memtrace::diff
