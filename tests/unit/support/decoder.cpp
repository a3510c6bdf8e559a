// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/decoder.h"

#include <zstd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace memtrace::test {
namespace {

using bytes = std::vector<unsigned char>;
using format::kind;

struct section {
  std::uint64_t sequence = 0;
  std::uint64_t base_ticks = 0;
  std::uint64_t first_event = 0;
  bytes records;
  bytes times;
};

class input {
 public:
  explicit input(const bytes& from) : from_(from) {}
  [[nodiscard]] bool at_end() const { return at_ == from_.size(); }
  unsigned char byte() {
    if (at_end()) throw std::runtime_error("record runs over the end of its section");
    return from_[at_++];
  }
  std::size_t position() const { return at_; }
  std::uint64_t v() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const unsigned char next = byte();
      value |= std::uint64_t{next & 0x7fu} << shift;
      if ((next & 0x80) == 0) return value;
    }
    throw std::runtime_error("number of more than 10 bytes");
  }
  std::uint64_t z() {
    const std::uint64_t coded = v();
    return coded >> 1 ^ (0 - (coded & 1));
  }
  std::string s() {
    std::string text(v(), '\0');
    for (char& c : text) c = static_cast<char>(byte());
    return text;
  }

 private:
  const bytes& from_;
  std::size_t at_ = 0;
};

// The fields that follow a record's tag: a for the address, v, z, s, c for [stream] [pool], l for
// the payload of a skippable record.
const char* payload_of(kind k, unsigned flags) {
  switch (k) {
    case kind::info:
      return "ss";
    case kind::text:
      return "s";
    case kind::frame:
      return "vvv";
    case kind::stack:
      return "vv";
    case kind::thread:
      return "vv";
    case kind::device:
      return "vvvvvvv";
    case kind::context:
      return "dt";
    case kind::alloc:
    case kind::free_requested:
    case kind::free_completed:
    case kind::segment_alloc:
    case kind::segment_free:
    case kind::segment_map:
    case kind::segment_unmap:
      return "avcv";
    case kind::snapshot:
      return "";
    case kind::oom:
      return "vvcv";
    case kind::report: {
      static const char* const fields[] = {"", "a", "z", "az", "vv", "avv", "zvv", "azvv"};
      return fields[flags & 7];
    }
    case kind::operation:
      return "vvvs";
    case kind::cuda_call: {
      static const char* const fields[] = {"vavvv", "vavvvv", "vavvvvv"};
      return fields[((flags & format::call_failed) != 0 ? 1 : 0) +
                    ((flags & format::call_owner) != 0 ? 1 : 0)];
    }
    case kind::cuda_undo:
      return (flags & format::undo_handle) != 0 ? "vavv" : "vav";
    case kind::message:
      return "vs";
    case kind::reported_alloc:
    case kind::reported_free:
      return "avv";
    case kind::scope:
    case kind::object:
    case kind::storage:
    case kind::saved:
    case kind::phase:
    case kind::step:
    case kind::counter:
    case kind::census:
      return "l";
    case kind::length:
      return "vvv";
    case kind::expectation:
      return "vvvvvvvvv";
    case kind::source:
      return "vvvvsvs";
  }
  throw std::runtime_error("unknown kind");
}

bool has_time(kind k) {
  switch (k) {
#define TIMED(name, number, timed, payload) \
  case kind::name:                          \
    return timed;
    MEMTRACE_RECORD_KINDS(TIMED)
#undef TIMED
  }
  return false;
}

void decode_payload(input& in, decoded_record& context, decoded_record& record) {
  for (const char* field = payload_of(record.kind, record.flags); *field != '\0'; ++field) {
    switch (*field) {
      case 'a':
        record.address = context.address += in.z();
        break;
      case 'd':
        context.device = static_cast<std::uint32_t>(in.v());
        break;
      case 'l':  // a payload of numbers, after its length
        for (const auto end = in.v() + in.position(); in.position() < end;) {
          record.values.push_back(in.v());
        }
        break;
      case 't':
        context.thread = static_cast<std::uint32_t>(in.v());
        break;
      case 's':
        record.texts.push_back(in.s());
        break;
      case 'v':
        record.values.push_back(in.v());
        break;
      case 'z':
        record.values.push_back(in.z());
        break;
      case 'c':
        if ((record.flags & format::flag_stream) != 0) context.stream = in.v();
        if ((record.flags & format::flag_pool) != 0) {
          context.pool_first = in.v();
          context.pool_second = in.v();
        }
        break;
    }
  }
  record.device = context.device;
  record.thread = context.thread;
  record.stream = context.stream;
  record.pool_first = context.pool_first;
  record.pool_second = context.pool_second;
}

// The length says where the record ends: nothing may be left of it.
void decode_escaped(input& in, decoded_record& context, decoded_record& record) {
  const auto number = in.v();
  if (number < 32 || number > 255) throw std::runtime_error("unknown kind behind the escape");
  record.kind = static_cast<kind>(number);
  const auto length = in.v();
  const auto end = in.position() + length;
  decode_payload(in, context, record);
  if (in.position() != end) throw std::runtime_error("length behind the escape");
}

void decode_section(const section& from, decoded_trace& trace) {
  input records(from.records);
  input times(from.times);
  decoded_record context;
  std::uint64_t ticks = from.base_ticks;
  if (from.first_event != trace.timed)
    throw std::runtime_error("events are missing before a section");
  while (!records.at_end()) {
    decoded_record record;
    const unsigned char tag = records.byte();
    record.kind = static_cast<kind>(tag & ((1u << format::kind_bits) - 1));
    record.flags = tag >> format::kind_bits;
    if (tag == 0) {
      decode_escaped(records, context, record);
    } else {
      decode_payload(records, context, record);
    }
    if (has_time(record.kind)) {
      record.ticks = ticks += times.v() << trace.header.tick_shift;
      ++trace.timed;
    }
    trace.records.push_back(std::move(record));
  }
  if (!times.at_end()) throw std::runtime_error("more times than timed records");
}

template <typename T>
T object_at(const bytes& file, std::size_t offset) {
  T object;
  if (offset + sizeof object > file.size()) throw std::runtime_error("cut off");
  std::memcpy(&object, file.data() + offset, sizeof object);
  return object;
}

bytes unpack(const bytes& file, std::size_t offset, std::size_t stored, std::size_t size) {
  if (offset + stored > file.size()) throw std::runtime_error("cut off");
  bytes out(size);
  const std::size_t got = ZSTD_decompress(out.data(), size, file.data() + offset, stored);
  if (ZSTD_isError(got) != 0 || got != size) throw std::runtime_error("frame does not unpack");
  return out;
}

// A process that is killed while its background thread writes a block leaves a part of it.
bool is_whole_block(const bytes& file, std::size_t at) {
  const std::size_t left = file.size() - at;
  if (left < sizeof(format::block_header)) return false;
  const auto header = object_at<format::block_header>(file, at);
  return left - sizeof header >= std::size_t{header.stored_record_bytes} + header.stored_time_bytes;
}

// Returns the offset behind the block.
std::size_t decode_block(const bytes& file, std::size_t at, decoded_trace& trace) {
  const auto header = object_at<format::block_header>(file, at);
  if (header.header_checksum != format::fnv1a32(file.data() + at + 8, sizeof header - 8)) {
    throw std::runtime_error("block checksum");
  }
  const std::size_t records_at = at + sizeof header;
  const std::size_t times_at = records_at + header.stored_record_bytes;
  decode_section({header.sequence, header.base_ticks, header.first_event,
                  unpack(file, records_at, header.stored_record_bytes, header.record_bytes),
                  unpack(file, times_at, header.stored_time_bytes, header.time_bytes)},
                 trace);
  trace.block_sequences.push_back(header.sequence);
  return times_at + header.stored_time_bytes;
}

void decode_slots(const bytes& file, decoded_trace& trace) {
  std::uint64_t next = trace.block_sequences.size() + 1;
  for (unsigned tried = 0; tried < format::slot_count; ++tried, ++next) {
    for (unsigned i = 0; i < format::slot_count; ++i) {
      const std::size_t at = trace.header.header_bytes + std::size_t{i} * trace.header.slot_bytes;
      const auto header = object_at<format::slot_header>(file, at);
      if (header.sequence != next) continue;
      const auto records = file.begin() + static_cast<long>(at + sizeof header);
      const auto times = records + trace.header.slot_record_capacity;
      decode_section({header.sequence, header.base_ticks, header.first_event,
                      bytes(records, records + static_cast<std::uint32_t>(header.committed)),
                      bytes(times, times + static_cast<long>(header.committed >> 32))},
                     trace);
      trace.slot_sequences.push_back(header.sequence);
    }
  }
}

void decode_file(const bytes& file, decoded_trace& trace) {
  trace.header = object_at<format::file_header>(file, 0);
  if (std::memcmp(trace.header.magic, format::file_magic, 8) != 0)
    throw std::runtime_error("magic");
  if (trace.header.header_checksum !=
      format::fnv1a32(file.data(), offsetof(format::file_header, header_checksum))) {
    throw std::runtime_error("header checksum");
  }
  std::size_t at = trace.header.header_bytes + std::size_t{2} * trace.header.slot_bytes;
  bool begun = false;  // a block of which only a part is there
  while (at < file.size() && !begun && object_at<std::uint32_t>(file, at) == format::block_magic) {
    begun = !is_whole_block(file, at);
    if (!begun) at = decode_block(file, at, trace);
  }
  const std::uint64_t next = trace.block_sequences.size() + 1;
  decode_slots(file, trace);
  if (begun && (trace.slot_sequences.empty() || trace.slot_sequences.front() != next)) {
    throw std::runtime_error("cut off: in a block whose records are in no slot, either");
  }
  if (begun || at == file.size()) return;
  trace.trailer = object_at<format::trailer>(file, at);
  if (trace.trailer.magic != format::trailer_magic ||
      trace.trailer.header_checksum !=
          format::fnv1a32(file.data() + at + 8, sizeof trace.trailer - 8)) {
    throw std::runtime_error("something else than blocks and a trailer");
  }
  trace.has_trailer = true;
  if (at + sizeof trace.trailer != file.size()) throw std::runtime_error("bytes after the trailer");
}

}  // namespace

std::vector<decoded_record> decoded_trace::of(kind wanted) const {
  std::vector<decoded_record> found;
  for (const auto& record : records) {
    if (record.kind == wanted) found.push_back(record);
  }
  return found;
}

// The newest events of a process that has not ended by itself are in a file in memory.
static void put_shared_head(bytes& file) {
  if (file.size() < format::header_bytes) return;
  const std::string name(reinterpret_cast<const char*>(file.data()) + format::shared_head_offset);
  if (name.empty()) return;
  std::ifstream stream(format::shared_folder + ("/" + name), std::ios::binary);
  const bytes head{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  constexpr auto checked = offsetof(format::file_header, state);
  if (head.size() > file.size() || head.size() < checked ||
      !std::equal(head.begin(), head.begin() + checked, file.begin())) {
    return;
  }
  std::copy(head.begin(), head.end(), file.begin());
}

decoded_trace decode_trace(const std::string& path) {
  decoded_trace trace;
  std::ifstream stream(path, std::ios::binary);
  bytes file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  put_shared_head(file);
  try {
    decode_file(file, trace);
  } catch (const std::runtime_error& failure) {
    trace.error = failure.what();
  }
  return trace;
}

}  // namespace memtrace::test
