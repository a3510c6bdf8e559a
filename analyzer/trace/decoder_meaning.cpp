// SPDX-License-Identifier: Apache-2.0
//
// The skippable records: what memory means. Payloads may be longer than what is known here.
#include <bit>
#include <span>

#include "analyzer/trace/decoder.h"

namespace memtrace::trace {

using format::kind;

decoder::verdict decoder::skippable(std::uint8_t number, std::uint8_t flags) {
  const auto text = records_.text(format::max_record_bytes);
  if (!records_.ok()) return verdict::malformed;
  cursor payload({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  auto what = verdict::fine;
  const bool is_known = flags == 0;  // flags have no meaning yet: a later version's record
  switch (is_known ? static_cast<kind>(number) : kind{}) {
    case kind::scope:
      what = change_scope(payload);
      break;
    case kind::object:
      what = object(payload);
      break;
    case kind::storage:
      what = storage(payload);
      break;
    case kind::saved:
      what = saved(payload);
      break;
    case kind::phase:
      what = phase(payload);
      break;
    case kind::step:
      what = step(payload);
      break;
    case kind::counter:
      what = counter(payload);
      break;
    case kind::census:
      what = census(payload);
      break;
    default:
      if (number >= format::first_timed_skippable_kind) (void)timed();
      break;
  }
  return payload.ok() ? what : verdict::malformed;
}

event decoder::untimed() const {
  return {events_, last_time_ns_, state_.device, state_.thread, state_.scope};
}

decoder::verdict decoder::change_scope(cursor& payload) {
  scope now;
  now.flags = static_cast<std::uint32_t>(payload.unsigned_number());
  if (!read_object_id(payload, now.module) || !read_object_id(payload, now.root)) {
    return verdict::malformed;
  }
  if (now.in_backward()) {
    const auto stack = payload.unsigned_number();
    if (!payload.ok() || !names_.knows_stack(stack)) return verdict::malformed;
    now.forward.value = static_cast<std::uint32_t>(stack);
    if (!read_text_id(payload, now.node)) return verdict::malformed;
  }
  state_.scope = now;
  return verdict::fine;
}

decoder::verdict decoder::object(cursor& payload) {
  const auto address = payload.unsigned_number();
  if (!payload.ok()) return verdict::malformed;
  if (address != 0) {
    if (names_.define_object(address) != dictionary::outcome::defined) return verdict::too_many;
    visitor_.on_object(names_.last_object(), address);
    return verdict::fine;
  }
  module_event record;
  if (!read_object_id(payload, record.object) || !read_object_id(payload, record.root) ||
      !read_text_id(payload, record.path) || !read_text_id(payload, record.type)) {
    return verdict::malformed;
  }
  record.flags = static_cast<std::uint32_t>(payload.unsigned_number());
  if (payload.ok()) visitor_.on_module(untimed(), record);
  return verdict::fine;
}

decoder::verdict decoder::storage(cursor& payload) {
  storage_event record;
  record.role = static_cast<format::storage_role>(payload.unsigned_number());
  record.address = state_.address + payload.signed_number();
  record.bytes = payload.unsigned_number();
  if (!read_text_id(payload, record.name) || !read_text_id(payload, record.detail) ||
      !read_object_id(payload, record.object)) {
    return verdict::malformed;
  }
  record.flags = static_cast<std::uint32_t>(payload.unsigned_number());
  if (payload.ok()) visitor_.on_storage(untimed(), record);
  return verdict::fine;
}

decoder::verdict decoder::saved(cursor& payload) {
  saved_event record;
  record.address = state_.address + payload.signed_number();
  record.bytes = payload.unsigned_number();
  record.flags = static_cast<std::uint32_t>(payload.unsigned_number());
  record.scalar_type = static_cast<std::uint32_t>(payload.unsigned_number());
  record.dimensions = static_cast<std::uint32_t>(payload.unsigned_number());
  record.rows = payload.unsigned_number();
  record.columns = payload.unsigned_number();
  if (payload.ok()) visitor_.on_saved(untimed(), record);
  return verdict::fine;
}

decoder::verdict decoder::phase(cursor& payload) {
  phase_event record;
  record.action = static_cast<format::phase_action>(payload.unsigned_number());
  record.source = static_cast<format::phase_source>(payload.unsigned_number());
  if (!read_object_id(payload, record.object) || !read_text_id(payload, record.name)) {
    return verdict::malformed;
  }
  const auto head = timed();
  if (!times_.ok()) return verdict::malformed;
  visitor_.on_phase(head, record);
  return verdict::fine;
}

decoder::verdict decoder::step(cursor& payload) {
  step_event record;
  record.source = static_cast<format::step_source>(payload.unsigned_number());
  if (!read_object_id(payload, record.object) || !read_text_id(payload, record.name)) {
    return verdict::malformed;
  }
  const auto head = timed();
  if (!times_.ok()) return verdict::malformed;
  visitor_.on_step(head, record);
  return verdict::fine;
}

decoder::verdict decoder::counter(cursor& payload) {
  counter_event record;
  if (!read_text_id(payload, record.name)) return verdict::malformed;
  record.value = std::bit_cast<double>(payload.unsigned_number());
  const auto head = timed();
  if (!payload.ok() || !times_.ok()) return verdict::malformed;
  visitor_.on_counter(head, record);
  return verdict::fine;
}

decoder::verdict decoder::census(cursor& payload) {
  census_event record;
  record.action = static_cast<format::census_action>(payload.unsigned_number());
  record.reason = static_cast<format::census_reason>(payload.unsigned_number());
  record.flags = static_cast<std::uint32_t>(payload.unsigned_number());
  record.bytes = payload.unsigned_number();
  record.nanoseconds = payload.unsigned_number();
  const auto head = timed();
  if (!payload.ok() || !times_.ok()) return verdict::malformed;
  visitor_.on_census(head, record);
  return verdict::fine;
}

bool decoder::read_object_id(cursor& from, object_id& out) const {
  const auto number = from.unsigned_number();
  out.value = static_cast<std::uint32_t>(number);
  return from.ok() && names_.knows_object(number);
}

}  // namespace memtrace::trace
