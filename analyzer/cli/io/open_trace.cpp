// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/io/open_trace.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "analyzer/base/text/utf8.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/model/snapshot/as_trace.h"
#include "analyzer/trace/reader/find_traces.h"
#include "analyzer/trace/reader/frozen_source.h"

namespace memtrace::cli {

namespace {
using clock = std::chrono::steady_clock;

bool progress_shown = false;
bool snapshot_refused = false;
const char* reading_for = "report";

// Ten times a second, once there was something to wait for.
class seldom {
 public:
  [[nodiscard]] bool now() {
    if (clock::now() < next_) return false;
    next_ = clock::now() + std::chrono::milliseconds(100);
    progress_shown = true;
    return true;
  }

 private:
  clock::time_point next_ = clock::now() + std::chrono::milliseconds(500);
};

// "2026-11-27 19:21:05"
[[nodiscard]] std::string local_time(std::uint64_t since_epoch_ns) {
  const auto seconds = static_cast<std::time_t>(since_epoch_ns / 1'000'000'000);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return "an unknown time";
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local)};
}

// "a, b, c and 4 more", by their paths below the directory.
[[nodiscard]] std::string first_of(const std::vector<std::string>& folders,
                                   const std::string& below) {
  constexpr std::size_t shown = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(shown, folders.size()); ++i) {
    const auto last = i + 1 == folders.size();
    list += i == 0 ? "" : last ? " and " : ", ";
    list += std::filesystem::path(folders[i]).lexically_relative(below).string();
  }
  if (folders.size() > shown) list += fmt::format(" and {} more", folders.size() - shown);
  return list;
}

// The only one, or how many.
[[nodiscard]] std::string files_of(const std::vector<std::string>& traces) {
  if (traces.size() != 1) return fmt::format("{} files", traces.size());
  return text::printable(std::filesystem::path(traces.front()).filename().string());
}

}  // namespace

void complain(const std::string& path, const std::string& sentence) {
  end_progress();
  if (path.empty()) {
    log::error("{}", sentence);
  } else {
    log::error("{}: {}", path, sentence);
  }
}

void complain(const std::string& path, const trace::error& error) {
  complain(path, error.message);
}

std::optional<open_trace> open(const std::string& path) {
  auto source = trace::file_source::open(path);
  if (!source) {
    complain(path, source.failure());
    return std::nullopt;
  }
  open_trace opened;
  if (source->is_growing()) {  // each pass has to see the same
    auto frozen = trace::frozen_source::take(path);
    if (!frozen) {
      complain(path, frozen.failure());
      return std::nullopt;
    }
    opened.source = std::move(*frozen);
  } else {
    opened.source = std::make_unique<trace::file_source>(std::move(*source));
  }
  if (snapshot::is_one(*opened.source)) {
    auto made = snapshot::as_trace(*opened.source, show_reading(path));
    if (!made) {
      snapshot_refused = true;
      complain(path, made.failure());
      return std::nullopt;
    }
    opened.source = std::move(*made);
  }
  auto reader = trace::reader::open(*opened.source);
  if (!reader) {
    complain(path, reader.failure());
    return std::nullopt;
  }
  opened.reader = std::make_unique<trace::reader>(std::move(*reader));
  return opened;
}

bool refused_a_snapshot() {
  return snapshot_refused;
}

void begin_reading_for(const char* subcommand) {
  reading_for = subcommand;
}

std::vector<std::string> folders_with_traces(const std::string& directory) {
  namespace fs = std::filesystem;
  constexpr int deepest = 2;  // from 0
  constexpr std::size_t most_looked_at = 20'000;
  std::vector<std::string> found;
  std::size_t looked_at = 0;
  std::error_code failed;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied,
                                      failed);
  for (const fs::recursive_directory_iterator end; !failed && at != end; at.increment(failed)) {
    if (++looked_at > most_looked_at) break;
    std::error_code unknown;
    if (!at->is_directory(unknown)) continue;
    if (!trace::traces_in(at->path().string()).empty()) found.push_back(at->path().string());
    if (at.depth() >= deepest) at.disable_recursion_pending();
  }
  std::ranges::sort(found);
  return found;
}

std::optional<std::vector<std::string>> find(const std::vector<std::string>& names) {
  auto found = trace::find_traces(names);
  if (found) return std::move(*found);
  for (const auto& name : names) {
    std::error_code failed;
    if (!std::filesystem::is_directory(name, failed) || !trace::traces_in(name).empty()) continue;
    const auto inside = folders_with_traces(name);
    if (inside.empty()) break;
    log::error("{}: no traces in this directory, but in {}; read one: memtrace {} {}",
               text::printable(name), first_of(inside, name), reading_for, inside.front());
    return std::nullopt;
  }
  complain({}, found.failure());
  return std::nullopt;
}

namespace {

std::optional<std::vector<std::string>> find_runs(const std::vector<std::string>& names,
                                                  bool only) {
  std::vector<std::string> all;
  for (const auto& name : names) {
    auto found = find({name});
    if (!found) return std::nullopt;
    std::error_code failed;
    if (found->size() > 1 && std::filesystem::is_directory(name, failed)) {
      auto newest = trace::newest_of(*found);
      if (newest.runs > 1 && only) {
        log::error("{} has {} runs; name the files of one, or give each run a directory of its own",
                   text::printable(name), newest.runs);
        return std::nullopt;
      }
      if (newest.runs > 1) {
        log::note("{} has {} runs; this is the newest, of {}: {}", text::printable(name),
                  newest.runs, local_time(newest.start_ns), files_of(newest.traces));
      }
      found = std::move(newest.traces);
    }
    std::ranges::move(*found, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::optional<std::vector<std::string>> find_newest(const std::vector<std::string>& names) {
  return find_runs(names, false);
}

std::optional<std::vector<std::string>> find_only(const std::vector<std::string>& names) {
  return find_runs(names, true);
}

const std::string* in_both(const std::vector<std::string>& before,
                           const std::vector<std::string>& after) {
  for (const auto& path : before) {
    for (const auto& other : after) {
      std::error_code failed;
      if (std::filesystem::equivalent(path, other, failed) && !failed) return &other;
    }
  }
  return nullptr;
}

std::vector<std::string> sentences_of(const trace::completeness& facts) {
  return facts.damage ? std::vector{facts.damage->message} : std::vector<std::string>();
}

bool each_trace(const std::vector<std::string>& paths,
                const std::function<std::vector<std::string>(const std::string& path,
                                                             trace::reader& reader)>& read) {
  bool complete = true;
  for (const auto& path : paths) {
    const auto opened = open(path);
    if (!opened) {
      complete = false;
      continue;
    }
    const auto sentences = read(path, *opened->reader);
    end_progress();
    for (const auto& sentence : sentences) complain(path, sentence);
    complete = complete && sentences.empty();
  }
  return complete;
}

std::function<void(const trace::progress&)> show_progress(const std::string& path) {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [path, due = seldom()](const trace::progress& so_far) mutable {
    if (!due.now()) return;
    fmt::print(stderr, "\r{}: {:.0f} %, {:.1f} M events\x1b[K", text::printable(path),
               100.0 * static_cast<double>(so_far.bytes_read) /
                   static_cast<double>(so_far.bytes_total + 1),
               static_cast<double>(so_far.events) / 1e6);
  };
}

std::function<void(std::uint64_t, std::uint64_t)> show_reading(const std::string& path) {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [path, due = seldom()](std::uint64_t done, std::uint64_t of) mutable {
    if (!due.now()) return;
    fmt::print(stderr, "\r{}: {:.0f} %\x1b[K", text::printable(path),
               100.0 * static_cast<double>(done) / static_cast<double>(of + 1));
  };
}

std::function<void(const advice::replay_progress&)> show_replays(const std::string& path) {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [path, due = seldom()](const advice::replay_progress& so_far) mutable {
    if (!due.now()) return;
    fmt::print(stderr, "\r{}: replaying {} of {}\x1b[K", text::printable(path), so_far.done,
               so_far.of);
  };
}

void end_progress() {
  if (!std::exchange(progress_shown, false)) return;
  fmt::print(stderr, "\r\x1b[K");
}

}  // namespace memtrace::cli
