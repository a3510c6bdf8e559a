// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/torch_release.h"

#include <charconv>

namespace memtrace::allocator {

torch_release release_of(std::string_view torch_version) {
  torch_release found;
  const auto* const end = torch_version.data() + torch_version.size();
  const auto major = std::from_chars(torch_version.data(), end, found.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return newest_release;
  const auto minor = std::from_chars(major.ptr + 1, end, found.minor);
  return minor.ec == std::errc() ? found : newest_release;
}

}  // namespace memtrace::allocator
