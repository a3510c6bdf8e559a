// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/live/recordings.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include "analyzer/base/text/numbers.h"
#include "analyzer/trace/reader/find_traces.h"
#include "analyzer/trace/reader/followed_file.h"
#include "analyzer/trace/reader/header.h"

namespace memtrace::live {

namespace {

namespace fs = std::filesystem;

[[nodiscard]] bool is_trace_name(std::string_view path) {
  return path.ends_with(".mtrace");
}

// The process itself and all its descendants.
[[nodiscard]] std::vector<int> family_of(int process) {
  std::vector<int> all{process};
  for (std::size_t i = 0; i < all.size() && all.size() < 10000; ++i) {
    std::error_code failed;
    for (fs::directory_iterator task(fmt::format("/proc/{}/task", all[i]), failed), end;
         !failed && task != end; task.increment(failed)) {
      std::ifstream children(task->path() / "children");
      for (int child = 0; children >> child;) {
        if (std::ranges::find(all, child) == all.end()) all.push_back(child);
      }
    }
  }
  return all;
}

[[nodiscard]] std::set<std::string> open_traces(int process) {
  std::set<std::string> found;
  std::error_code failed;
  const auto folder = fmt::format("/proc/{}/fd", process);
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code unreadable;
    auto target = fs::read_symlink(entry->path(), unreadable).string();
    if (!unreadable && is_trace_name(target)) found.insert(std::move(target));
  }
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.find('/');
    if (slash != line.npos && is_trace_name(line)) found.insert(line.substr(slash));
  }
  return found;
}

// Where it was told to write, else where it runs.
[[nodiscard]] std::string output_of(int process) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  constexpr std::string_view name = "MEMTRACE_OUTPUT=";
  std::string wanted;
  for (std::size_t at = 0; at < all.size();) {
    const auto end = std::min(all.find('\0', at), all.size());
    const std::string_view one(all.data() + at, end - at);
    if (one.starts_with(name)) wanted = one.substr(name.size());
    at = end + 1;
  }
  if (wanted.starts_with('/')) return wanted;
  std::error_code failed;
  const auto runs_in = fs::read_symlink(fmt::format("/proc/{}/cwd", process), failed);
  return failed ? std::string() : (wanted.empty() ? runs_in : runs_in / wanted).string();
}

// By the process that its header names.
[[nodiscard]] bool is_of(const std::string& path, int process) {
  auto file = trace::followed_file::open(path);
  if (!file) return false;
  auto header = trace::read_header(**file);
  return header && header->process_id == static_cast<std::uint64_t>(process);
}

[[nodiscard]] std::vector<std::string> traces_of_process(int process) {
  auto open = open_traces(process);
  if (open.empty()) {
    const auto number = fmt::format(".{}.", process);
    for (auto& path : trace::traces_in(output_of(process))) {
      if (path.find(number) != path.npos && is_of(path, process)) open.insert(path);
    }
  }
  return {open.begin(), open.end()};
}

// The newest trace whose program lives, and those of the same run.
[[nodiscard]] std::vector<std::string> growing_in(const std::string& directory) {
  std::vector<std::string> found;
  for (auto& path : trace::traces_in(directory)) {
    auto file = trace::followed_file::open(path);
    if (!file) continue;
    auto header = trace::read_header(**file);
    if (!header || header->state != static_cast<std::uint32_t>(format::file_state::recording)) {
      continue;
    }
    const auto writer = (*file)->writer(header->process_id, header->start_realtime_ns);
    if (writer == trace::writer_state::lives) found.push_back(std::move(path));
  }
  return found;
}

}  // namespace

trace::result<recordings> understand(const std::string& argument) {
  if (argument.empty()) return recordings{meant::here, "."};
  std::error_code failed;
  if (fs::is_directory(argument, failed)) return recordings{meant::directory, argument};
  if (fs::exists(argument, failed)) return recordings{meant::trace, argument};
  if (const auto process = text::number_in<int>(argument); process && *process > 0) {
    if (::kill(*process, 0) == 0 || errno == EPERM) {
      return recordings{meant::process, argument};
    }
    return trace::error{trace::error_code::not_found, 0,
                        fmt::format("{}: there is no process of that number, nor a file of that "
                                    "name; ps lists the processes",
                                    argument)};
  }
  return trace::error{trace::error_code::not_found, 0,
                      fmt::format("{}: no such file, directory or process; name a trace "
                                  "(NAME.mtrace), the directory that it is in, or the number of a "
                                  "process that is recorded",
                                  argument)};
}

std::vector<std::string> traces_of(recordings& wanted) {
  if (wanted.kind == meant::trace) return {wanted.name};
  if (wanted.kind == meant::directory) return trace::traces_in(wanted.name);
  if (wanted.kind == meant::here) return growing_in(wanted.name);
  std::set<std::string> found;
  for (const int process : family_of(*text::number_in<int>(wanted.name))) {
    for (auto& path : traces_of_process(process)) found.insert(std::move(path));
  }
  return {found.begin(), found.end()};
}

std::string why_none(const recordings& wanted) {
  switch (wanted.kind) {
    case meant::process:
      return fmt::format(
          "process {} has no trace that can be found, nor has a process that it started: it is not "
          "recorded, has not used CUDA yet, or is another user's; start it with memtrace run",
          wanted.name);
    case meant::here:
      return "no recording grows in the current directory; name a trace, a directory with traces, "
             "or the number of a process that is recorded";
    case meant::directory:
      return fmt::format("{}: no traces in this directory; record one with memtrace run",
                         wanted.name);
    case meant::trace:
      break;
  }
  return fmt::format("{}: no such file", wanted.name);
}

}  // namespace memtrace::live
