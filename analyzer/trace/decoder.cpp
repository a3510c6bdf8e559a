// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/decoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "analyzer/text/utf8.h"

namespace memtrace::trace {

using format::kind;

decoder::decoder(const format::file_header& header, dictionary& names, record_visitor& visitor)
    : names_(names),
      visitor_(visitor),
      start_monotonic_ns_(header.start_monotonic_ns),
      ns_per_tick_(header.ns_per_tick),
      tick_shift_(header.tick_shift) {}

status decoder::decode(const section& part) {
  records_ = cursor(part.records);
  times_ = cursor(part.times);
  state_ = context{};
  base_ns_ = std::max(part.base_monotonic_ns, start_monotonic_ns_) - start_monotonic_ns_;
  while (!records_.at_end()) {
    const auto position = records_.position();
    auto what = decode_record(records_.byte());
    if (!records_.ok() || !times_.ok()) what = verdict::malformed;
    if (what != verdict::fine) return describe(part, what, position);
  }
  // Every time belongs to a record: one too many means that the times before it are wrong too.
  if (!times_.at_end()) return describe(part, verdict::malformed, records_.position());
  return std::nullopt;
}

error decoder::describe(const section& part, verdict what, std::size_t position) const {
  if (what == verdict::too_many) {
    return {error_code::too_many_definitions, part.offset,
            fmt::format("is damaged at offset {}: it defines more texts or stacks than a trace can "
                        "have; record it again",
                        part.offset)};
  }
  return {error_code::corrupt_record, part.offset,
          fmt::format("is damaged at offset {}: byte {} of block {} is no record; what precedes it "
                      "is used, copy the trace again for the rest",
                      part.offset, position, part.sequence)};
}

decoder::verdict decoder::decode_record(std::uint8_t tag) {
  constexpr std::uint8_t kind_mask = (1u << format::kind_bits) - 1;
  const auto number = static_cast<std::uint8_t>(tag & kind_mask);
  const auto flags = static_cast<std::uint8_t>(tag >> format::kind_bits);
  const auto record = static_cast<kind>(number);
  if (number >= format::first_skippable_kind) {
    return skippable(number, flags);
  }
  switch (record) {
    case kind::alloc:
    case kind::free_requested:
    case kind::free_completed:
    case kind::segment_alloc:
    case kind::segment_free:
    case kind::segment_map:
    case kind::segment_unmap:
    case kind::snapshot:
    case kind::oom:
      return allocator_record(record, flags);
    case kind::report:
      return report(flags);
    case kind::cuda_call:
      return cuda_call(flags);
    case kind::cuda_undo:
      return cuda_undo(flags);
    default:
      break;
  }
  if (flags != 0) return verdict::malformed;
  switch (record) {
    case kind::context:
      return change_context();
    case kind::device:
      return device();
    case kind::operation:
      return operation();
    case kind::message:
      return message();
    case kind::reported_alloc:
      return reported(true);
    case kind::reported_free:
      return reported(false);
    default:
      return definition(record);
  }
}

decoder::verdict decoder::definition(kind kind) {
  auto outcome = dictionary::outcome::unknown_id;
  if (kind == kind::info) {
    const auto key = records_.text(format::max_text_bytes);
    const auto value = records_.text(format::max_text_bytes);
    std::string room_of_key, room_of_value;
    if (records_.ok()) {
      visitor_.on_info(text::repaired(key, room_of_key), text::repaired(value, room_of_value));
    }
    return verdict::fine;
  }
  if (kind == kind::text) {
    outcome = names_.define_text(records_.text(format::max_text_bytes));
  } else if (kind == kind::frame) {
    const auto file = records_.unsigned_number();
    const auto function = records_.unsigned_number();
    outcome = names_.define_frame(file, function, records_.unsigned_number());
  } else if (kind == kind::stack) {
    const auto parent = records_.unsigned_number();
    outcome = names_.define_stack(parent, records_.unsigned_number());
  } else if (kind == kind::thread) {
    const auto system_id = records_.unsigned_number();
    outcome = names_.define_thread(system_id, records_.unsigned_number());
    if (records_.ok() && outcome == dictionary::outcome::defined) {
      visitor_.on_thread(names_.last_thread());
    }
  }
  if (outcome == dictionary::outcome::too_many) return verdict::too_many;
  return outcome == dictionary::outcome::defined ? verdict::fine : verdict::malformed;
}

decoder::verdict decoder::allocator_record(kind kind, std::uint8_t flags) {
  if (flags > (format::flag_stream | format::flag_pool)) return verdict::malformed;
  allocator_event record;
  record.kind = kind;
  if (kind == kind::snapshot) {
    if (flags != 0) return verdict::malformed;
  } else {
    if (kind == kind::oom) {
      record.device_free = records_.unsigned_number();
    } else {
      record.address = next_address();
    }
    record.size = records_.unsigned_number();
    if ((flags & format::flag_stream) != 0) state_.stream = records_.unsigned_number();
    if ((flags & format::flag_pool) != 0) {
      state_.pool.first = records_.unsigned_number();
      state_.pool.second = records_.unsigned_number();
    }
    if (!read_stack(record.stack)) return verdict::malformed;
    record.stream = state_.stream;
    record.pool = state_.pool;
  }
  const auto head = timed();
  if (!records_.ok() || !times_.ok()) return verdict::malformed;
  state_.predictions[state_.device].see(record);
  visitor_.on_allocator(head, record);
  return verdict::fine;
}

decoder::verdict decoder::report(std::uint8_t flags) {
  auto& predicted = state_.predictions[state_.device];
  report_event record;
  record.device = state_.device;
  record.address = predicted.address();
  auto block = predicted.block_bytes();
  if ((flags & format::report_address) != 0) record.address = next_address();
  if ((flags & format::report_block) != 0) block = records_.signed_number();
  record.block_bytes = static_cast<std::int64_t>(block);
  record.allocated = predicted.allocated(block);
  record.reserved = predicted.reserved();
  if ((flags & format::report_totals) != 0) {
    record.allocated = records_.unsigned_number();
    record.reserved = records_.unsigned_number();
  }
  if (!records_.ok()) return verdict::malformed;
  predicted.settle(record.allocated, record.reserved);
  visitor_.on_report(record);
  return verdict::fine;
}

decoder::verdict decoder::change_context() {
  const auto device = records_.unsigned_number();
  const auto thread = records_.unsigned_number();
  if (device >= max_devices || !names_.knows_thread(thread)) return verdict::malformed;
  state_.device = static_cast<std::uint32_t>(device);
  state_.thread = thread_id{static_cast<std::uint32_t>(thread)};
  return verdict::fine;
}

decoder::verdict decoder::device() {
  device_facts facts;
  const auto number = records_.unsigned_number();
  facts.total_bytes = records_.unsigned_number();
  facts.free_before_first_segment = records_.unsigned_number();
  facts.compute_major = records_.unsigned_number();
  facts.compute_minor = records_.unsigned_number();
  facts.multiprocessors = records_.unsigned_number();
  if (!read_text_id(facts.name) || number >= max_devices) return verdict::malformed;
  facts.device = static_cast<std::uint32_t>(number);
  visitor_.on_device(facts);
  return verdict::fine;
}

decoder::verdict decoder::operation() {
  operation_event record;
  record.operation = records_.unsigned_number();
  record.a = records_.unsigned_number();
  record.b = records_.unsigned_number();
  std::string room;
  record.text = text::repaired(records_.text(format::max_text_bytes), room);
  const auto head = timed();
  if (!records_.ok() || !times_.ok()) return verdict::malformed;
  visitor_.on_operation(head, record);
  return verdict::fine;
}

decoder::verdict decoder::cuda_call(std::uint8_t flags) {
  cuda_call_event record;
  if (!read_text_id(record.api)) return verdict::malformed;
  record.address = next_address();
  record.size = records_.unsigned_number();
  record.handle = records_.unsigned_number();
  record.release = (flags & format::call_release) != 0;
  if ((flags & format::call_failed) != 0) record.error = records_.unsigned_number();
  record.has_owner = (flags & format::call_owner) != 0;
  if (record.has_owner && !read_text_id(record.owner)) return verdict::malformed;
  if (!read_stack(record.stack)) return verdict::malformed;
  const auto head = timed();
  if (!times_.ok()) return verdict::malformed;
  visitor_.on_cuda_call(head, record);
  return verdict::fine;
}

decoder::verdict decoder::cuda_undo(std::uint8_t flags) {
  if (flags > format::undo_handle) return verdict::malformed;
  cuda_undo_event record;
  if (!read_text_id(record.api)) return verdict::malformed;
  record.address = next_address();
  record.error = records_.unsigned_number();
  if ((flags & format::undo_handle) != 0) record.handle = records_.unsigned_number();
  const auto head = timed();
  if (!records_.ok() || !times_.ok()) return verdict::malformed;
  visitor_.on_cuda_undo(head, record);
  return verdict::fine;
}

decoder::verdict decoder::message() {
  message_event record;
  record.severity = records_.unsigned_number();
  std::string room;
  record.text = text::repaired(records_.text(format::max_text_bytes), room);
  const auto head = timed();
  if (!records_.ok() || !times_.ok()) return verdict::malformed;
  visitor_.on_message(head, record);
  return verdict::fine;
}

decoder::verdict decoder::reported(bool is_alloc) {
  reported_event record;
  record.is_alloc = is_alloc;
  record.address = next_address();
  record.block_bytes = records_.unsigned_number();
  if (!read_stack(record.stack)) return verdict::malformed;
  const auto head = timed();
  if (!times_.ok()) return verdict::malformed;
  visitor_.on_reported(head, record);
  return verdict::fine;
}

event decoder::timed() {
  state_.ticks += times_.unsigned_number() << tick_shift_;
  if (!records_.ok() || !times_.ok()) return {};
  // Beyond 2^62 ns a time is nonsense, and the conversion would be undefined.
  const double elapsed =
      std::min(static_cast<double>(state_.ticks) * ns_per_tick_, 4611686018427387904.0);
  last_time_ns_ = base_ns_ + static_cast<std::uint64_t>(elapsed);
  return {events_++, last_time_ns_, state_.device, state_.thread, state_.scope};
}

bool decoder::read_stack(stack_id& out) {
  const auto number = records_.unsigned_number();
  out.value = static_cast<std::uint32_t>(number);
  return records_.ok() && names_.knows_stack(number);
}

bool decoder::read_text_id(cursor& from, text_id& out) const {
  const auto number = from.unsigned_number();
  out.value = static_cast<std::uint32_t>(number);
  return from.ok() && names_.knows_text(number);
}

}  // namespace memtrace::trace
