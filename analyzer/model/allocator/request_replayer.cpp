// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/request_replayer.h"

#include <bit>

namespace memtrace::allocator {

request_replayer::step_result request_replayer::step(const request& asked) {
  switch (asked.what()) {
    case action::allocate: {
      const auto placed = model_.allocate(asked);
      return {placed, !placed.has_value(), false};
    }
    case action::free:
      model_.free(asked.block, asked.size != 0);
      return {};
    case action::complete:
      return {std::nullopt, false, model_.complete(asked.block)};
    case action::memory_fraction:
      if (under_.follow_changes) model_.set_fraction(std::bit_cast<double>(asked.size));
      return {};
    case action::settings:
      if (under_.follow_changes) change_settings_to(asked.size);
      return {};
    default:
      model_.operate(asked);
      return {};
  }
}

void request_replayer::change_settings_to(std::uint64_t text) {
  if (text >= log_.texts.size()) return;
  const auto changed = change_settings(model_.options(), log_.texts[text], log_.torch_version);
  const auto* const now = std::get_if<settings>(&changed);
  model_.set_options(now != nullptr ? *now : std::get<refusal>(changed).left);
}

}  // namespace memtrace::allocator
