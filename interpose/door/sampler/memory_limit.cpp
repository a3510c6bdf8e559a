// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "interpose/ground/base/kernel_files.h"

namespace memtrace::sampler {
namespace {

using format::host::limit_source;

constexpr std::uint64_t kibibyte = 1024;
// Version 1 says "no limit" by a number just below 2^63.
constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;

bool has_word(std::string_view list, std::string_view word) noexcept {
  while (!list.empty()) {
    if (next_field(list, ',') == word) return true;
  }
  return false;
}

struct membership {
  limit_source version = limit_source::cgroup_v2;
  char path[512] = "";
};

// Lines of /proc/self/cgroup: "4:memory:/path" for version 1, "0::/path" for version 2. Memory is
// controlled by one of them only: by version 1 where it has a line.
bool find_membership(std::string_view text, membership& found) noexcept {
  bool is_found = false;
  std::string_view line;
  while (next_line(text, line)) {
    const std::string_view number = next_field(line, ':');
    const std::string_view controllers = next_field(line, ':');
    const bool first = has_word(controllers, "memory");
    if (!first && !(number == "0" && controllers.empty())) continue;
    if (line.size() >= sizeof found.path || (is_found && !first)) continue;
    found.version = first ? limit_source::cgroup_v1 : limit_source::cgroup_v2;
    found.path[line.copy(found.path, sizeof found.path - 1)] = '\0';
    is_found = true;
  }
  return is_found;
}

struct mount {
  std::string_view root;   // the group that is seen at `place`
  std::string_view place;  // where it is seen
};

// A line of /proc/self/mountinfo (man 5 proc_pid_mountinfo):
//   id parent device root place options optional… - type source options-of-the-super-block
bool parse_mount(std::string_view line, limit_source version, mount& found) noexcept {
  for (int field = 0; field < 3; ++field) (void)next_field(line, ' ');
  found.root = next_field(line, ' ');
  found.place = next_field(line, ' ');
  const std::size_t separator = line.find(" - ");
  if (separator == line.npos) return false;
  line.remove_prefix(separator + 3);
  const std::string_view type = next_field(line, ' ');
  if (version == limit_source::cgroup_v2) return type == "cgroup2";
  (void)next_field(line, ' ');
  return type == "cgroup" && has_word(line, "memory");
}

// The path between the group at the mount and the process's own. Inside a container the process
// may have a path that its mount does not show: then the mount is its group.
std::string_view below(const mount& at, std::string_view path) noexcept {
  if (at.root == "/") return path.starts_with("/..") ? std::string_view() : path;
  if (!path.starts_with(at.root)) return {};
  path.remove_prefix(at.root.size());
  return path.empty() || path.front() == '/' ? path : std::string_view();
}

std::uint64_t minus(std::uint64_t from, std::uint64_t amount) noexcept {
  return from - std::min(from, amount);
}

void keep_nearer(std::optional<limit_state>& nearest,
                 const std::optional<limit_state>& other) noexcept {
  if (!other) return;
  if (nearest && minus(nearest->limit, nearest->used) <= minus(other->limit, other->used)) return;
  nearest = other;
}

std::optional<limit_state> state_of_process(limit_source which, std::uint64_t used) noexcept {
  rlimit limit{};
  const auto resource = which == limit_source::data ? RLIMIT_DATA : RLIMIT_AS;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit_state{limit.rlim_cur, used, which};
}

}  // namespace

std::string_view memory_limit::read(std::string_view path, std::span<char> buffer) const noexcept {
  char whole[longest_path + 64];
  std::snprintf(whole, sizeof whole, "%.*s%.*s", static_cast<int>(root_.size()), root_.data(),
                static_cast<int>(path.size()), path.data());
  return read_file(whole, buffer);
}

void memory_limit::add_levels(limit_source version, std::string_view mount,
                              std::string_view below) noexcept {
  while (below.ends_with('/')) below.remove_suffix(1);
  for (;;) {
    const std::size_t bytes = root_.size() + mount.size() + below.size();
    if (count_ < most_levels && bytes + 1 < longest_path) {
      group& level = levels_[count_++];
      level.version = version;
      std::snprintf(level.directory, sizeof level.directory, "%.*s%.*s%.*s",
                    static_cast<int>(root_.size()), root_.data(), static_cast<int>(mount.size()),
                    mount.data(), static_cast<int>(below.size()), below.data());
    }
    if (below.empty()) return;
    below = below.substr(0, below.rfind('/'));
  }
}

void memory_limit::find(std::span<char> buffer) noexcept {
  count_ = 0;
  membership own;
  if (!find_membership(read("/proc/self/cgroup", buffer), own)) return;
  std::string_view mounts = read("/proc/self/mountinfo", buffer);
  std::string_view line;
  while (next_line(mounts, line)) {
    mount at;
    if (!parse_mount(line, own.version, at)) continue;
    add_levels(own.version, at.place, below(at, own.path));
    return;
  }
}

std::optional<limit_state> memory_limit::state_of(const group& level,
                                                  std::span<char> buffer) const noexcept {
  const bool second = level.version == limit_source::cgroup_v2;
  const auto file = [&](const char* name) noexcept {
    char path[longest_path + 64];
    std::snprintf(path, sizeof path, "%s/%s", level.directory, name);
    return read_file(path, buffer);
  };
  const auto limit = number_in(file(second ? "memory.max" : "memory.limit_in_bytes"));
  if (!limit || *limit >= unlimited) return std::nullopt;
  const auto used = number_in(file(second ? "memory.current" : "memory.usage_in_bytes"));
  if (!used) return std::nullopt;
  const std::string_view parts = file("memory.stat");
  const auto part = [&](const char* name) noexcept {
    return number_after(parts, name).value_or(0);
  };
  // Shared memory is counted as cache and cannot be dropped.
  const std::uint64_t cache = second
                                  ? minus(part("file "), part("shmem ")) + part("slab_reclaimable ")
                                  : minus(part("total_cache "), part("total_shmem "));
  return limit_state{*limit, minus(*used, cache), level.version};
}

std::optional<limit_state> memory_limit::state_of_machine(std::span<char> buffer) const noexcept {
  const std::string_view text = read("/proc/meminfo", buffer);
  const auto total = number_after(text, "MemTotal:");
  const auto available = number_after(text, "MemAvailable:");
  if (!total || !available) return std::nullopt;
  return limit_state{*total * kibibyte, minus(*total, *available) * kibibyte,
                     limit_source::machine};
}

std::optional<limit_state> memory_limit::nearest(const resident_memory& process,
                                                 std::span<char> buffer) const noexcept {
  std::optional<limit_state> found = state_of_machine(buffer);
  for (std::size_t i = 0; i < count_; ++i) keep_nearer(found, state_of(levels_[i], buffer));
  keep_nearer(found, state_of_process(limit_source::address_space, process.mapped));
  keep_nearer(found, state_of_process(limit_source::data, process.data));
  return found;
}

}  // namespace memtrace::sampler
