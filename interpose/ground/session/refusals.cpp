// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/session/refusals.h"

#include <array>
#include <atomic>
#include <cstdio>

#include "interpose/ground/base/notice.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/session/session.h"

namespace memtrace::refusals {
namespace {

std::array<std::atomic<const char*>, capability_count> reasons{};

std::atomic<const char*>& reason_of(capability which) noexcept {
  return reasons[static_cast<std::size_t>(which)];
}

void record(recorder& to, const capability_row& row, const char* why) noexcept {
  char text[256];
  std::snprintf(text, sizeof text, "%s: %s", row.name, why);
  to.info(format::info_key::refused, text);
}

}  // namespace

void refuse(capability which, const char* why) noexcept {
  const char* none = nullptr;
  if (!reason_of(which).compare_exchange_strong(none, why, std::memory_order_acq_rel)) return;
  const capability_row& row = capability_rows[static_cast<std::size_t>(which)];
  if (recorder* const to = session::active(); to != nullptr) record(*to, row, why);
  char sentence[400];
  std::snprintf(sentence, sizeof sentence, "without %s: %s; %s=0 says nothing of it", row.lacks,
                why, row.variable);
  notice::say(sentence);
}

bool is_allowed(capability which) noexcept {
  return settings::is_on(which) && reason_of(which).load(std::memory_order_relaxed) == nullptr;
}

void record_earlier(recorder& to) noexcept {
  for (const capability_row& row : capability_rows) {
    const char* const why = reason_of(row.which).load(std::memory_order_acquire);
    if (why != nullptr) record(to, row, why);
  }
}

}  // namespace memtrace::refusals
