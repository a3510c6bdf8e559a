// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/following_reader.h"

#include <fmt/core.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "analyzer/trace/reader/header.h"
#include "analyzer/trace/reader/section.h"

namespace memtrace::trace {

namespace {

void grow(std::vector<unsigned char>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

result<std::unique_ptr<following_reader>> following_reader::open(byte_source& source) {
  auto header = read_header(source);
  if (!header) return header.failure();
  return std::unique_ptr<following_reader>(new following_reader(source, *header));
}

following_reader::following_reader(byte_source& source, const format::file_header& header)
    : source_(source),
      header_(header),
      decompressor_(ZSTD_createDCtx()),
      offset_(first_block_offset(header)) {}

following_reader::~following_reader() {
  ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(decompressor_));
}

bool following_reader::poll(record_visitor& visitor, std::size_t most, slots_are how) {
  slots_ = how;
  if (!decoded_) {
    // There may be gaps later: what they need is kept from the start.
    mended_.emplace(visitor, header_.start_monotonic_ns);
    decoded_.emplace(header_, names_, *mended_);
  }
  look_at_header();
  for (std::size_t done = 0; done < most; ++done) {
    if (is_another_ || damage_) return false;
    // Records that the program adds meanwhile are left to the next poll: it may never stop.
    if (next() != step::took) return false;
  }
  return true;
}

void following_reader::look_at_header() {
  format::file_header now{};
  if (source_.read(0, room_of(now)) < sizeof now ||
      std::memcmp(&now, &header_, offsetof(format::file_header, state)) != 0 ||
      (passed_ != 0 && source_.size() < offset_)) {
    is_another_ = true;
    return;
  }
  header_ = now;
}

following_reader::step following_reader::next() {
  // A block is written before its slot is emptied: what is in neither of them was on its way.
  for (int attempt = 0; attempt < 2; ++attempt) {
    failure_.reset();
    missing_blocks_ = events_before_gap_ = 0;
    format::block_header head{};
    switch (look_at_block(head)) {
      case block_state::passed:
        return step::took;
      case block_state::ready:
        if (take_block(head)) return step::took;
        if (damage_) return step::nothing;
        break;
      case block_state::none:
      case block_state::incomplete:
      case block_state::corrupt:
        break;
    }
    bool moved = false;
    const auto taken = take_slot(moved);
    if (!moved) return taken;
  }
  return step::nothing;
}

following_reader::block_state following_reader::look_at_block(format::block_header& head) {
  const auto count = source_.read(offset_, room_of(head));
  if (count >= sizeof(head.magic) && head.magic == format::trailer_magic) {
    format::trailer found{};
    if (source_.read(offset_, room_of(found)) == sizeof(found)) {
      if (found.header_checksum == checksum_after(found)) {
        trailer_ = found;
      } else {
        note(error_code::corrupt_block, "the trailer does not match its checksum");
      }
    }
    return block_state::none;
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&head);
  if (std::all_of(bytes, bytes + count, [](auto b) { return b == 0; })) return block_state::none;
  if (count < sizeof(head)) return block_state::incomplete;
  if (head.magic != format::block_magic || head.header_checksum != checksum_after(head) ||
      head.record_bytes > header_.slot_record_capacity ||
      head.time_bytes > header_.slot_time_capacity ||
      head.stored_record_bytes > ZSTD_compressBound(header_.slot_record_capacity) ||
      head.stored_time_bytes > ZSTD_compressBound(header_.slot_time_capacity)) {
    note(error_code::corrupt_block, "a block's header does not match its checksum");
    return block_state::corrupt;
  }
  if (head.sequence != passed_ + 1) {
    note(error_code::corrupt_block, "a block is out of order");
    return block_state::corrupt;
  }
  const auto stored = std::uint64_t{head.stored_record_bytes} + head.stored_time_bytes;
  if (source_.size() < offset_ + sizeof(head) + stored) return block_state::incomplete;
  if (head.sequence >= at_) return block_state::ready;
  offset_ += sizeof(head) + stored;
  passed_ = head.sequence;
  return block_state::passed;
}

bool following_reader::take_block(const format::block_header& head) {
  const auto stored = std::size_t{head.stored_record_bytes} + head.stored_time_bytes;
  grow(stored_, stored);
  const auto frames = std::span(stored_).first(stored);
  if (source_.read(offset_ + sizeof(head), std::as_writable_bytes(frames)) < stored) return false;
  if (!decompress(frames.first(head.stored_record_bytes), head.record_bytes, records_) ||
      !decompress(frames.subspan(head.stored_record_bytes), head.time_bytes, times_) ||
      head.record_bytes < records_done_ || head.time_bytes < times_done_) {
    note(error_code::corrupt_block, "a block does not match its checksum");
    return false;
  }
  const section part{offset_,
                     head.sequence,
                     head.base_ticks,
                     head.base_monotonic_ns,
                     head.first_event,
                     std::span(records_).first(head.record_bytes).subspan(records_done_),
                     std::span(times_).first(head.time_bytes).subspan(times_done_)};
  if (!hand_on(part)) return false;
  offset_ += sizeof(head) + stored;
  passed_ = head.sequence;
  end_section();
  return true;
}

// `moved`: what is wanted is in a block by now.
following_reader::step following_reader::take_slot(bool& moved) {
  std::array<format::slot_header, format::slot_count> seen{};
  std::uint64_t least = 0;  // sequence after the one that is wanted
  std::optional<std::uint32_t> wanted;
  bool next_began = false;
  for (std::uint32_t i = 0; i < header_.slot_count; ++i) {
    if (source_.read(slot_offset(header_, i), room_of(seen[i])) < sizeof(seen[i])) continue;
    if (seen[i].sequence == at_) wanted = i;
    next_began = next_began || seen[i].sequence == at_ + 1;
    if (seen[i].sequence > at_ && (least == 0 || seen[i].sequence < least)) {
      least = seen[i].sequence;
      events_before_gap_ = seen[i].first_event;
    }
  }
  if (!wanted) {
    moved = true;
    missing_blocks_ = least == 0 ? 0 : least - at_;
    return step::nothing;
  }
  events_before_gap_ = 0;
  const auto offset = slot_offset(header_, *wanted);
  format::slot_header head{};
  (void)source_.read(offset, room_of(head));
  const auto records = static_cast<std::uint32_t>(head.committed);
  const auto times = static_cast<std::uint32_t>(head.committed >> 32);
  if (head.sequence == at_ &&
      (records > header_.slot_record_capacity || times > header_.slot_time_capacity)) {
    failure_ = error{error_code::corrupt_slot, offset,
                     fmt::format("is damaged at offset {}: a slot claims more than it can hold; "
                                 "copy it again from where it was recorded",
                                 offset)};
    return step::nothing;
  }
  if (head.sequence != at_ || records < records_done_ || times < times_done_) {
    moved = true;
    return step::nothing;
  }
  const auto new_records = records - records_done_;
  const auto new_times = times - times_done_;
  grow(records_, new_records);
  grow(times_, new_times);
  const auto to_records = std::span(records_).first(new_records);
  const auto to_times = std::span(times_).first(new_times);
  const auto from = offset + sizeof(head);
  std::uint64_t sequence = 0;
  if (source_.read(from + records_done_, std::as_writable_bytes(to_records)) < new_records ||
      source_.read(from + header_.slot_record_capacity + times_done_,
                   std::as_writable_bytes(to_times)) < new_times ||
      source_.read(offset, room_of(sequence)) < sizeof(sequence) || sequence != at_) {
    moved = true;
    return step::nothing;
  }
  const bool is_new = new_records != 0 || new_times != 0;
  if (is_new && !hand_on({offset, at_, head.base_ticks, head.base_monotonic_ns, head.first_event,
                          to_records, to_times})) {
    return step::nothing;
  }
  records_done_ = records;
  times_done_ = times;
  // Nothing is added to it any more. Of a copy the block alone says where it ends.
  const bool is_full = next_began && slots_ == slots_are::current;
  if (is_full) end_section();
  if (is_full) return step::took;
  return is_new ? step::took_part : step::nothing;
}

bool following_reader::hand_on(const section& part) {
  if (records_done_ == 0 && times_done_ == 0) decoded_->begin(part);
  damage_ = decoded_->go_on(part, records_done_);
  return !damage_;
}

void following_reader::end_section() {
  ++at_;
  records_done_ = times_done_ = 0;
}

bool following_reader::decompress(std::span<const unsigned char> stored, std::uint32_t expected,
                                  std::vector<unsigned char>& out) {
  if (expected == 0 && stored.empty()) return true;
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != expected) return false;
  grow(out, expected);
  return ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(decompressor_), out.data(), expected,
                             stored.data(), stored.size()) == expected;
}

void following_reader::note(error_code code, const char* what) {
  failure_ = error{code, offset_,
                   fmt::format("is damaged at offset {}: {}; what precedes it is used, copy the "
                               "trace again for the rest",
                               offset_, what)};
}

completeness following_reader::facts() const {
  completeness found;
  if (decoded_) {
    found.events = decoded_->events();
    found.end_time_ns = decoded_->last_time_ns();
    found.gaps = mended_->gaps();
  }
  found.dropped_events = header_.dropped_events;
  found.dropped_because = static_cast<format::drop_reason>(header_.dropped_because);
  found.dropped_errno = header_.dropped_errno;
  found.missing_blocks = missing_blocks_;
  auto expected = events_before_gap_;
  if (trailer_) {
    found.clean_exit = true;
    found.dropped_events = trailer_->dropped_events;
    expected = std::max(expected, trailer_->events);
    found.end_time_ns = std::max(found.end_time_ns,
                                 std::max(trailer_->end_monotonic_ns, header_.start_monotonic_ns) -
                                     header_.start_monotonic_ns);
  }
  if (expected > found.events) found.missing_events = expected - found.events;
  found.damage = damage_ ? damage_ : failure_;
  const bool complete = header_.state == static_cast<std::uint32_t>(format::file_state::complete);
  found.truncated = found.missing_blocks != 0 || found.missing_events != 0 || found.damage ||
                    (complete && !trailer_);
  return found;
}

}  // namespace memtrace::trace
