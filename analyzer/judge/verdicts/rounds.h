// SPDX-License-Identifier: Apache-2.0
//
// What takes turns (optimizers, models) passes in rounds: a round begins with whatever was in the
// one before already.
//
//   D G D G D G        D D D G D D D G
//   └─┘ └─┘ └─┘        │ │ └─┘ │ │ └─┘
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analyzer/trace/reader/ids.h"

namespace memtrace::verdicts {

class rounds {
 public:
  // Its turn. `alone`: it begins a round in any case.
  [[nodiscard]] bool begins(trace::object_id one, bool alone = false) {
    const bool again = std::ranges::find(round_, one) != round_.end();
    const bool fresh = round_.empty() || again || alone || round_.size() >= most;
    if (fresh) round_.clear();
    round_.push_back(one);
    return fresh;
  }

 private:
  static constexpr std::size_t most = 64;
  std::vector<trace::object_id> round_;
};

}  // namespace memtrace::verdicts
