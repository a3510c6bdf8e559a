// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <library_types.h>

#include <optional>

namespace memtrace::simulator {

// One part of a library's version, 91900 being 9.19.0; nothing for what is no part.
[[nodiscard]] constexpr std::optional<int> version_part(int version, libraryPropertyType part) {
  switch (part) {
    case MAJOR_VERSION:
      return version / 10000;
    case MINOR_VERSION:
      return version / 100 % 100;
    case PATCH_LEVEL:
      return version % 100;
  }
  return std::nullopt;
}

}  // namespace memtrace::simulator
