// SPDX-License-Identifier: Apache-2.0
//
// A number beside a container that is called a capacity, however the program holds to it:
//
//   capacity=480, max_size=64, replay_limit=1000, buffer_size=256
//   n_estimators=5 of `estimators_`
//
// Where a function of the program has both, and the container is not that long yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/judge/verdicts/program/program_text.h"

namespace memtrace::verdicts {

struct named_limit {
  std::string number;    // "capacity=480"
  std::size_t line = 0;  // of the program, that names it in a function with the container
};

// `numbers`: as the census has written them. `reached`: what it must be more than.
[[nodiscard]] std::optional<named_limit> limit_beside(const program_text& program,
                                                      const std::string& container,
                                                      std::string_view numbers,
                                                      std::uint64_t reached);

// "capacity", "MAX_ITEMS", "replay_limit"; not "limits" of something else, as "max_length".
[[nodiscard]] bool names_a_capacity(std::string_view name);

}  // namespace memtrace::verdicts
