// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/birth_steps.h"

#include <algorithm>

namespace memtrace::verdicts {

void birth_steps::died(std::uint64_t step) {
  if (step == step_) {
    if (alive_ != 0) --alive_;
    return;
  }
  const auto found = std::ranges::lower_bound(older_, step, {}, &generation::step);
  if (found == older_.end() || found->step != step || found->alive == 0) return;
  if (--found->alive != 0) return;
  --older_alive_;
  if (older_.size() > 2 * older_alive_ + 16) {
    std::erase_if(older_, [](const generation& one) { return one.alive == 0; });
  }
}

}  // namespace memtrace::verdicts
