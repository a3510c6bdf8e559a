// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/storage_batch.h"

#include <algorithm>

#include "interpose/sight/agent/published_memory.h"

namespace memtrace::agent {

std::string common_name(std::string_view one, std::string_view other) {
  const auto [end, unused] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  const auto same = one.substr(0, static_cast<std::size_t>(end - one.begin()));
  const std::size_t dot = same.rfind('.');
  return std::string(same.substr(0, dot == std::string_view::npos ? 0 : dot + 1)) + "*";
}

void storage_batch::add(const found_storage& found) {
  const auto [place, is_new] = by_address_.try_emplace(found.storage.address, entries_.size());
  if (is_new) {
    entries_.push_back({found, std::string(found.name)});
    return;
  }
  entry& known = entries_[place->second];
  known.first.flags |= found.flags;
  if (found.name.empty() || known.name == found.name) return;
  if (autograd::tensor_bytes(found.storage.impl) < found.storage.bytes) {
    known.name = known.name.empty() ? found.name : common_name(known.name, found.name);
  }
}

void storage_batch::record(recorder& to, std::uint32_t object) {
  std::vector<storage_event> events;
  events.reserve(entries_.size());
  for (const entry& known : entries_) {
    const found_storage& first = known.first;
    const std::string_view detail =
        first.detail.empty() ? autograd::type_name(first.storage.impl) : first.detail;
    events.push_back({.role = first.role,
                      .address = first.storage.address,
                      .bytes = first.storage.bytes,
                      .name = known.name.empty() ? 0 : to.text_id(known.name),
                      .detail = detail.empty() ? 0 : to.text_id(detail),
                      .object = object,
                      .flags = first.flags});
    the_published_memory.add(first.storage.address);
  }
  to.storages(events);
}

}  // namespace memtrace::agent
