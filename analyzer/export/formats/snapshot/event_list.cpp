// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/formats/snapshot/event_list.h"

namespace memtrace::exporting {

void event_list::add(format::kind kind, std::uint64_t address, std::string_view event) {
  if (most_ == 0) return write(event);
  last_.push_back({kind, address, std::string(event)});
  if (last_.size() > most_) drop_first();
}

void event_list::drop_first() {
  auto& one = last_.front();
  const auto number = dropped_++;
  const auto living = living_before_.find(one.address);
  if (one.kind == format::kind::alloc) {
    living_before_[one.address] = number;
    before_.emplace(number, std::move(one.event));
  } else if (living != living_before_.end() && one.kind == format::kind::free_requested) {
    before_[living->second] += one.event;
  } else if (living != living_before_.end() && one.kind == format::kind::free_completed) {
    before_.erase(living->second);
    living_before_.erase(living);
  }
  last_.pop_front();
}

void event_list::write(std::string_view event) {
  portion_ += event;
  if (++in_portion_ == pickle::most_appended) write_portion();
}

void event_list::write_portion() {
  if (in_portion_ != 0) to_.extend(stored_, portion_);
  portion_.clear();
  in_portion_ = 0;
}

pickle::memo event_list::finish(std::string_view first) {
  if (most_ != 0) write(first);
  for (const auto& [number, event] : before_) {
    write(event);  // and the request to free it, if there was one: two events
    if (in_portion_ >= pickle::most_appended / 2) write_portion();
  }
  for (const auto& one : last_) write(one.event);
  write_portion();
  return stored_;
}

}  // namespace memtrace::exporting
