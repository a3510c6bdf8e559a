// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/decoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/trace/reader/field_reader.h"

namespace memtrace::trace {

using format::kind;

decoder::decoder(const format::file_header& header, dictionary& names, record_visitor& visitor,
                 generated lines, std::shared_ptr<symbols::debug_symbols> symbols)
    : names_(names),
      visitor_(visitor),
      lines_(lines),
      native_(names, std::move(symbols)),
      start_monotonic_ns_(header.start_monotonic_ns),
      ns_per_tick_(header.ns_per_tick),
      tick_shift_(header.tick_shift) {}

void decoder::begin(const section& part) {
  state_ = context{};
  base_ns_ = std::max(part.base_monotonic_ns, start_monotonic_ns_) - start_monotonic_ns_;
}

status decoder::go_on(const section& part, std::size_t before) {
  records_ = cursor(part.records);
  times_ = cursor(part.times);
  while (!records_.at_end()) {
    const auto position = records_.position();
    auto what = decode_record(records_.byte());
    if (!records_.ok() || !times_.ok()) what = outcome::malformed;
    if (what != outcome::fine) return describe(part, what, before + position);
  }
  // Every time belongs to a record: one too many means that the times before it are wrong too.
  if (!times_.at_end()) return describe(part, outcome::malformed, before + records_.position());
  return std::nullopt;
}

error decoder::describe(const section& part, outcome what, std::size_t position) const {
  if (what == outcome::too_many) {
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

decoder::outcome decoder::decode_record(std::uint8_t tag) {
  const auto what = format::kind_of(tag);
  const auto flags = format::flags_of(tag);
  if (static_cast<std::uint8_t>(what) == format::escape_tag) return behind_escape(flags);
  if (format::is_skippable(what)) return skippable(what, flags);
  return record::with_record_of<ids>(what, outcome::malformed, [&](const auto& empty) {
    return read(records_, what, flags, empty);
  });
}

// Its payload may be longer than what is known here. Flags have no meaning yet: with one it is a
// later version's record.
decoder::outcome decoder::skippable(kind what, unsigned flags) {
  const auto text = records_.text(format::max_record_bytes);
  if (!records_.ok()) return outcome::malformed;
  if (flags != 0) {
    if (format::is_timed(what)) (void)timed();
    return outcome::fine;
  }
  cursor payload({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  return record::with_record_of<ids>(what, outcome::malformed, [&](const auto& empty) {
    return read(payload, what, flags, empty);
  });
}

// What is not known here, and what says nothing, may still own a time.
decoder::outcome decoder::behind_escape(unsigned flags) {
  const auto number = records_.unsigned_number();
  const auto text = records_.text(format::max_record_bytes);
  if (!records_.ok() || flags != 0 || number < format::first_escaped_kind) {
    return outcome::malformed;
  }
  const auto skip = [&] {
    if (format::is_timed_behind_escape(number)) (void)timed();
    return outcome::fine;
  };
  if (text.empty() || number > std::numeric_limits<std::uint8_t>::max()) return skip();
  const auto what = static_cast<kind>(number);
  cursor payload({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  const auto read_as = [&](const auto& empty) { return read(payload, what, 0, empty); };
  const auto unknown = outcome::unknown;
  const auto found = record::with_record_of<ids>(what, unknown, read_as);
  return found == unknown ? skip() : found;
}

template <class Record>
decoder::outcome decoder::read(cursor& from, kind what, unsigned flags, Record record) {
  if ((flags & ~record::tag_flags<Record>()) != 0) return outcome::malformed;
  prepare(what, record);
  field_reader fields(from, names_, state_.address, flags);
  Record::fields(fields, record);
  return fields.ok() ? take(what, flags, record) : outcome::malformed;
}

void decoder::prepare(kind what, allocator_event& record) const {
  record.kind = what;
  record.stream = state_.stream;
  record.pool = state_.pool;
}

void decoder::prepare(kind what, reported_event& record) const {
  record.is_alloc = what == kind::reported_alloc;
}

void decoder::prepare(kind /*what*/, report_event& record) const {
  const auto& predicted = state_.predictions[state_.device];
  record.device = state_.device;
  record.address = predicted.address();
  record.block_bytes = static_cast<std::int64_t>(predicted.block_bytes());
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

event decoder::untimed() const {
  return {events_, last_time_ns_, state_.device, state_.thread, state_.scope};
}

}  // namespace memtrace::trace
