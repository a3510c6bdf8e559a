// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/process_memory.h"

#include <cstdio>

#include "interpose/ground/base/kernel_files.h"

namespace memtrace::sampler {
namespace {

constexpr std::uint64_t kibibyte = 1024;  // the files say kB and mean it

std::string_view read_of(std::uint64_t process, const char* name, std::span<char> buffer) noexcept {
  char path[64];
  if (process == this_process) {
    std::snprintf(path, sizeof path, "/proc/self/%s", name);
  } else {
    std::snprintf(path, sizeof path, "/proc/%llu/%s", static_cast<unsigned long long>(process),
                  name);
  }
  return read_file(path, buffer);
}

std::uint64_t bytes_after(std::string_view text, std::string_view key) noexcept {
  return number_after(text, key).value_or(0) * kibibyte;
}

}  // namespace

std::optional<resident_memory> resident_of(std::uint64_t process, std::span<char> buffer) noexcept {
  const std::string_view text = read_of(process, "status", buffer);
  // A process that has ended and was not waited for has no memory, and no such line.
  if (!number_after(text, "VmRSS:")) return std::nullopt;
  return resident_memory{.resident = bytes_after(text, "VmRSS:"),
                         .kept = bytes_after(text, "RssAnon:") + bytes_after(text, "RssShmem:") +
                                 bytes_after(text, "VmSwap:"),
                         .mapped = bytes_after(text, "VmSize:"),
                         .data = bytes_after(text, "VmData:")};
}

std::optional<std::uint64_t> proportional_of(std::uint64_t process,
                                             std::span<char> buffer) noexcept {
  const std::string_view text = read_of(process, "smaps_rollup", buffer);
  if (!number_after(text, "Pss:")) return std::nullopt;
  return bytes_after(text, "Pss:") + bytes_after(text, "SwapPss:");
}

}  // namespace memtrace::sampler
