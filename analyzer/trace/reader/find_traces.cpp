// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/find_traces.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/header.h"
#include "analyzer/trace/reader/reader.h"

namespace memtrace::trace {

namespace fs = std::filesystem;

namespace {

struct lifetime {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::vector<std::string> traces;
};

class run_name final : public record_visitor {
 public:
  void on_info(std::string_view key, std::string_view value) override {
    if (key == format::info_key::run) name_ = value;
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// Only a program that ended by itself wrote one.
[[nodiscard]] std::optional<format::trailer> read_trailer(byte_source& source) {
  format::trailer found{};
  if (source.size() < sizeof found) return std::nullopt;
  const auto offset = source.size() - sizeof found;
  if (source.read(offset, room_of(found)) < sizeof found) return std::nullopt;
  if (found.magic != format::trailer_magic || found.header_checksum != checksum_after(found)) {
    return std::nullopt;
  }
  return found;
}

// When it ended, on the clock of its start; of a program that was killed, its last event.
[[nodiscard]] std::uint64_t end_of(file_source& source, const reader& from) {
  const auto& header = from.header();
  if (source.is_growing()) return ~std::uint64_t{0};
  if (const auto trailer = read_trailer(source)) {
    return header.start_realtime_ns +
           (std::max(trailer->end_monotonic_ns, header.start_monotonic_ns) -
            header.start_monotonic_ns);
  }
  record_visitor nothing;
  return header.start_realtime_ns + from.again().read(nothing).end_time_ns;
}

// Ascending by start.
[[nodiscard]] std::vector<lifetime> apart_in_time(std::vector<lifetime> all) {
  std::ranges::sort(all, {}, &lifetime::start_ns);
  std::vector<lifetime> apart;
  for (auto& one : all) {
    if (apart.empty() || one.start_ns > apart.back().end_ns) {
      apart.push_back(std::move(one));
      continue;
    }
    auto& with = apart.back();
    with.end_ns = std::max(with.end_ns, one.end_ns);
    std::ranges::move(one.traces, std::back_inserter(with.traces));
  }
  return apart;
}

}  // namespace

std::vector<std::string> traces_in(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".mtrace") found.push_back(entry->path().string());
  }
  std::ranges::sort(found);
  return found;
}

result<std::vector<std::string>> find_traces(const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const auto& name : names) {
    std::error_code failed;
    if (!fs::is_directory(name, failed)) {
      found.push_back(name);
      continue;
    }
    const auto inside = traces_in(name);
    if (inside.empty()) {
      return error{
          error_code::not_found, 0,
          fmt::format("{}: no traces in this directory; record one with memtrace run", name)};
    }
    found.insert(found.end(), inside.begin(), inside.end());
  }
  return found;
}

newest_run newest_of(const std::vector<std::string>& traces) {
  std::map<std::string, lifetime> named;  // by what memtrace run calls it
  std::vector<lifetime> all;
  std::vector<std::string> unreadable;
  for (const auto& path : traces) {
    auto source = file_source::open(path);
    auto from = source ? reader::open(*source) : result<reader>(source.failure());
    if (!from) {
      unreadable.push_back(path);
      continue;
    }
    run_name run;
    (void)from->read(run, {}, [] { return true; });
    const auto start_ns = from->header().start_realtime_ns;
    const auto end_ns = end_of(*source, *from);
    auto& of = run.name().empty()
                   ? all.emplace_back(lifetime{start_ns, end_ns, {}})
                   : named.try_emplace(run.name(), lifetime{start_ns, end_ns, {}}).first->second;
    of.start_ns = std::min(of.start_ns, start_ns);
    of.end_ns = std::max(of.end_ns, end_ns);
    of.traces.push_back(path);
  }
  for (auto& [name, one] : named) all.push_back(std::move(one));
  auto apart = apart_in_time(std::move(all));
  newest_run newest{std::move(unreadable), apart.size(), 0};
  if (!apart.empty()) {
    newest.start_ns = apart.back().start_ns;
    std::ranges::move(apart.back().traces, std::back_inserter(newest.traces));
  }
  std::ranges::sort(newest.traces);
  return newest;
}

}  // namespace memtrace::trace
