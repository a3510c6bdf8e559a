// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace memtrace::exporting {

std::string module_of(const process& from, const block& one) {
  if (one.module == 0) return {};
  const auto& row = from.report.fates->devices.at(one.device).modules[one.module];
  return row.path.empty() ? row.root : row.root + "." + row.path;
}

std::string_view name_of(const process& from, const block& one) {
  return one.fate == nullptr ? std::string_view() : from.names[one.fate->name];
}

std::vector<code::source_frame> frames_outermost_first(const process& from, trace::stack_id stack) {
  auto frames = code::frames_of(from.names, stack);
  std::ranges::reverse(frames);
  return frames;
}

std::string thread_words(const process& from, trace::thread_id thread) {
  const auto known = from.names[thread];
  const auto name = from.names[known.name];
  if (!name.empty()) return fmt::format("thread {}", name);
  return known.system_id == 0 ? "unknown thread" : fmt::format("thread {}", known.system_id);
}

std::string process_words(const run::process_report& report) {
  std::string program = "program";
  for (const auto& word : report.run.command) {
    program = std::filesystem::path(word).filename().string();
    if (word.ends_with(".py")) break;
  }
  if (!report.run.rank) return fmt::format("{} (pid {})", program, report.run.pid);
  return fmt::format("rank {} ({}, pid {})", *report.run.rank, program, report.run.pid);
}

}  // namespace memtrace::exporting
