// SPDX-License-Identifier: Apache-2.0
//
// The trace file (NAME.mtrace): the one definition that the recorder writes by and the reader
// reads by. All integers are little-endian.
//
//   0                 file_header, one page
//   header_bytes      slot 0 ─┐ slot_bytes each: the newest records live here, uncompressed,
//   + slot_bytes      slot 1 ─┘ until their block is written
//   + 2 * slot_bytes  block 1, block 2, …   (block_header, then two zstd frames)
//                     trailer               (only after a clean exit)
//
// A slot is   slot_header | record area | time area   with fixed capacities (file_header).
// Records go to the record area; the time of each timed record goes to the time area, apart from
// the records, because times are the only thing that differs from step to step: the record area
// of a training loop compresses to almost nothing.
//
// Life of the records: they are appended to the open slot; `committed` is stored after their
// bytes are, so a process killed at any instruction leaves a slot that is valid up to
// `committed`. A full slot is compressed into the block that carries the same sequence number and
// is appended to the file; only then is the slot's sequence reset to 0. So a reader takes
//   1. every valid block in file order (sequence 1, 2, 3, …), then
//   2. each slot whose sequence is greater than the last block's, in ascending order.
// A slot whose sequence does not follow directly means that blocks in between are missing (a
// truncated copy): what is missing is counted, never guessed.
//
// Any prefix of the file is readable: what is cut off is reported as truncated.
//
// THE HEAD (header and slots) is stored into by every event, so it is in memory: on a tmpfs the
// file itself is mapped; otherwise shared_head names a file in /dev/shm with the same bytes, of
// which the trace has a copy that is some 200 ms old. The trace belongs to it if the checksummed
// part of both headers is equal; then a reader takes the head from there. It is gone after a
// clean exit. Its writer holds flock(LOCK_EX) on it as long as it lives: who can take the lock may
// copy the head into the trace and remove it.
//
// GAPS. Where the disk does not take blocks in time, timed records are dropped and counted; the
// first record when they are taken again is an operation `gap`. Definitions are never dropped.
//
// RECORDS
//   A record is a tag byte and a payload. tag = kind | flags << 5; kind 1…31. Kinds from 32 on do
//   not fit a tag: before them stands the escape, see below.
//   v  unsigned LEB128, at most 10 bytes        z  zigzag, then v
//   s  v length, then that many bytes (UTF-8 not guaranteed)
//   Timed records own one v in the time area: ticks since the previous timed record of the slot
//   (the first: since base_ticks), in units of 1 << tick_shift ticks.
//   Addresses are z differences to the previous address in the slot (starting from 0); those in
//   skippable records (kinds from 24 on) do not count as previous.
//   Device, thread and stream are context: they hold until changed. All context (address 0,
//   device 0, thread 0, stream 0, pool 0:0) starts afresh with each slot, so that a block can be
//   decoded without those before it, but for the ids of definitions, which count through the
//   whole file: the n-th `text` record defines text n, and likewise frames, stacks and threads;
//   id 0 means none.
//
//   Worked example: alloc of 1024 bytes at 0x7f0000000000, stack 7, first of its slot:
//     0x08                    tag: kind 8 (alloc), no flags
//     80 80 80 80 80 c0 3f    z of the address          80 08   v 1024        07   v 7
//   and in the time area one v.
//
//   The escape is the tag 0 (kind 0, no flags). Then come  v kind  v length  and `length` bytes of
//   payload. kind is 32 or more; a smaller one, or a flag in the tag, is no record. Even kinds are
//   untimed, odd ones timed, so that whoever does not know a kind knows whether it owns a time. A
//   payload of no bytes says nothing but that time: a privacy copy leaves that of a record whose
//   fields it does not know.
//
//   Worked example: kind 32 (source) with a payload of 3 bytes:
//     0x00                    tag: the escape      20   v kind       03   v length       xx xx xx
//
// COMPATIBILITY: `version` in the header is the major version in its low 16 bits, and the minor one
// in its high 16 bits. The major version changes when a reader of the old one would misread; it is
// refused by readers of another. The minor version changes when a record, a field at the end of a
// skippable payload or a flag is new: a reader of the same major version reads every minor one, and
// skips what it does not know.
//   1.0   kinds 1…31
//   1.1   the escape; kinds 32 to 34. (Readers of 1.0 compared the whole word: they refuse 1.1 and
//         name its version, and do not take the first escape for damage.)
// Kinds 24…31 carry `v length` of the payload right after the tag and are skipped by readers that
// do not know them; of these, 24…27 are untimed and 28…31 are timed. Behind the escape every kind
// is skippable.
//
// MEANING. Beside the events, what the program, the framework and autograd said about memory:
//   scope    where in the model and the autograd graph the allocator events that follow happened:
//            context like device and thread, all zero at the start of each slot
//   object   a Python object (an nn.Module) met on a stack; `module` says later which one it is
//   storage  the memory that begins at this address is a parameter, a gradient, …: holds for the
//            block that lives there at this position in the file, for the block's whole life
//   saved    autograd keeps the memory that begins at this address for a backward pass
//   phase, step, counter   as the program passes through them
//   heap scan   what keeps memory alive, asked of Python at this moment: storages with the role `held`
//   source   the text of a file of the user's own that has a frame on a recorded stack, or that owns
//            what keeps memory alive: see source_*
//   expectation   growth that the program expects, and why: see expectation_*

#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace::format {

inline constexpr char file_magic[8] = {'M', 'E', 'M', 'T', 'R', 'A', 'C', 'E'};
inline constexpr std::uint32_t major_version = 1;
inline constexpr std::uint32_t minor_version = 1;
inline constexpr std::uint32_t version = major_version | minor_version << 16;
[[nodiscard]] constexpr std::uint32_t major_of(std::uint32_t word) {
  return word & 0xffff;
}
[[nodiscard]] constexpr std::uint32_t minor_of(std::uint32_t word) {
  return word >> 16;
}
inline constexpr std::uint32_t header_bytes = 4096;
inline constexpr std::uint32_t slot_count = 2;
inline constexpr std::uint32_t block_magic = 0x4b42544d;    // "MTBK"
inline constexpr std::uint32_t trailer_magic = 0x4e45544d;  // "MTEN"
// Readers refuse more, whatever a file claims.
inline constexpr std::uint32_t max_slot_bytes = 16u << 20;
inline constexpr std::uint32_t max_text_bytes = 64u << 10;
// A record never takes more than this in the record area.
inline constexpr std::uint32_t max_record_bytes = max_text_bytes + 64;

enum class file_state : std::uint32_t {
  recording = 1,  // also after a crash or a kill
  complete = 2,   // trailer written
  stopped = 3,    // the recorder gave up; drop_reason says why
};

// Why events were dropped. Values are part of the format.
enum class drop_reason : std::uint32_t {
  none = 0,
  disk_full = 1,
  io_error = 2,
  out_of_memory = 3,
  internal = 4,
  slow_disk = 5,  // it did not take the records in time
};

struct file_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t slot_bytes;            // a slot with its header; a multiple of 4096
  std::uint32_t slot_count;            // 2
  std::uint32_t slot_record_capacity;  // bytes
  std::uint32_t slot_time_capacity;    // bytes; header + records + times == slot_bytes
  std::uint64_t process_id;
  std::uint64_t parent_process_id;
  std::uint64_t start_realtime_ns;   // CLOCK_REALTIME when the file was created
  std::uint64_t start_monotonic_ns;  // CLOCK_MONOTONIC at the same moment
  std::uint64_t start_ticks;         // tick counter at the same moment
  double ns_per_tick;                // 1.0 where ticks are CLOCK_MONOTONIC nanoseconds
  std::uint32_t tick_shift;
  std::uint32_t header_checksum;  // fnv1a32 of all bytes before this field
  // From here on updated while recording (mapped; not covered by the checksum).
  std::uint32_t state;            // file_state
  std::uint32_t dropped_because;  // drop_reason
  std::uint64_t dropped_events;
  std::uint32_t dropped_errno;
  std::uint32_t reserved;
};
static_assert(sizeof(file_header) == 112);
static_assert(offsetof(file_header, header_checksum) == 84);

// Where else the head is while the program runs. The name begins with shared_prefix and has no
// slash; empty: nowhere else.
inline constexpr char shared_folder[] = "/dev/shm";
inline constexpr char shared_prefix[] = "memtrace.";
inline constexpr std::uint32_t shared_head_offset = 128;  // in the header's page
inline constexpr std::uint32_t shared_name_bytes = 64;

struct slot_header {
  std::uint64_t sequence;   // 0: empty; else the number of the block it will become
  std::uint64_t committed;  // record bytes | time bytes << 32, stored as one word
  std::uint64_t base_ticks;
  std::uint64_t base_monotonic_ns;  // at base_ticks: every block is a clock synchronisation
  std::uint64_t first_event;        // number of timed records in the file before this slot
  std::uint64_t reserved[3];
};
static_assert(sizeof(slot_header) == 64);

struct block_header {
  std::uint32_t magic;
  std::uint32_t header_checksum;  // fnv1a32 of all bytes after this field
  std::uint64_t sequence;         // 1, 2, 3, …
  std::uint64_t base_ticks;
  std::uint64_t base_monotonic_ns;
  std::uint64_t first_event;
  std::uint32_t record_bytes;         // uncompressed
  std::uint32_t time_bytes;           // uncompressed
  std::uint32_t stored_record_bytes;  // a zstd frame with content checksum
  std::uint32_t stored_time_bytes;    // a zstd frame with content checksum, after the other
};
static_assert(sizeof(block_header) == 56);

struct trailer {
  std::uint32_t magic;
  std::uint32_t header_checksum;  // fnv1a32 of all bytes after this field
  std::uint64_t blocks;           // sequence of the last block
  std::uint64_t events;           // timed records in the file
  std::uint64_t dropped_events;
  std::uint64_t end_monotonic_ns;
};
static_assert(sizeof(trailer) == 40);

[[nodiscard]] constexpr std::uint32_t fnv1a32(const unsigned char* bytes, std::size_t count) {
  std::uint32_t hash = 2166136261u;
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

// The kinds. X(name, number, timed, record): the fields of each record are in memtrace/records.h.
//
// allocator_* records come from PyTorch's caching allocator: its own trace tracker, entry by
// entry and in its order. `size` is the requested size in alloc, free_requested and
// free_completed, the actual size in segment records and the rounded size in oom.
#define MEMTRACE_RECORD_KINDS(X)         \
  /* definitions */                      \
  X(info, 1, false, info)                \
  X(text, 2, false, text)                \
  X(frame, 3, false, frame)              \
  X(stack, 4, false, stack)              \
  X(thread, 5, false, thread)            \
  X(device, 6, false, device)            \
  X(context, 7, false, context)          \
  /* the caching allocator */            \
  X(alloc, 8, true, allocator)           \
  X(free_requested, 9, true, allocator)  \
  X(free_completed, 10, true, allocator) \
  X(segment_alloc, 11, true, allocator)  \
  X(segment_free, 12, true, allocator)   \
  X(segment_map, 13, true, allocator)    \
  X(segment_unmap, 14, true, allocator)  \
  X(snapshot, 15, true, snapshot)        \
  X(oom, 16, true, allocator)            \
  X(report, 17, false, report)           \
  X(operation, 18, true, operation)      \
  /* CUDA */                             \
  X(cuda_call, 19, true, cuda_call)      \
  X(cuda_undo, 20, true, cuda_undo)      \
  /* about the recording itself */       \
  X(message, 21, true, message)          \
  X(reported_alloc, 22, true, reported)  \
  X(reported_free, 23, true, reported)   \
  /* meaning: skippable, see above */    \
  X(scope, 24, false, scope)             \
  X(object, 25, false, object)           \
  X(storage, 26, false, storage)         \
  X(saved, 27, false, saved)             \
  X(phase, 28, true, phase)              \
  X(step, 29, true, step)                \
  X(counter, 30, true, counter)          \
  X(census, 31, true, census)            \
  /* behind the escape */                \
  X(source, 32, false, source)           \
  X(length, 33, true, length)            \
  X(expectation, 34, false, expectation)

enum class kind : std::uint8_t {
#define MEMTRACE_KIND(name, number, timed, record) name = number,
  MEMTRACE_RECORD_KINDS(MEMTRACE_KIND)
#undef MEMTRACE_KIND
};
#define MEMTRACE_TIMED_BY_NUMBER(name, number, timed, record) \
  static_assert((number) < 32 || (timed) == ((number) % 2 != 0));
MEMTRACE_RECORD_KINDS(MEMTRACE_TIMED_BY_NUMBER)
#undef MEMTRACE_TIMED_BY_NUMBER
inline constexpr unsigned kind_bits = 5;
inline constexpr std::uint8_t first_skippable_kind = 24;
inline constexpr std::uint8_t first_timed_skippable_kind = 28;
inline constexpr std::uint8_t escape_tag = 0;
inline constexpr std::uint8_t first_escaped_kind = 32;

[[nodiscard]] constexpr kind kind_of(std::uint8_t tag) {
  return static_cast<kind>(tag & ((1u << kind_bits) - 1));
}
[[nodiscard]] constexpr unsigned flags_of(std::uint8_t tag) {
  return static_cast<unsigned>(tag) >> kind_bits;
}
[[nodiscard]] constexpr bool is_skippable(kind what) {
  return static_cast<std::uint8_t>(what) >= first_skippable_kind;
}
[[nodiscard]] constexpr bool is_escaped(kind what) {
  return static_cast<std::uint8_t>(what) >= first_escaped_kind;
}
// Also of a kind that is not known here.
[[nodiscard]] constexpr bool is_timed_behind_escape(std::uint64_t number) {
  return number % 2 != 0;
}
[[nodiscard]] constexpr bool is_known(kind what) {
  switch (what) {
#define MEMTRACE_KNOWN(name, number, timed, record) case kind::name:
    MEMTRACE_RECORD_KINDS(MEMTRACE_KNOWN)
#undef MEMTRACE_KNOWN
    return true;
  }
  return false;
}
[[nodiscard]] constexpr bool is_timed(kind what) {
  switch (what) {
#define MEMTRACE_TIMED(name, number, timed, record) \
  case kind::name:                                  \
    return timed;
    MEMTRACE_RECORD_KINDS(MEMTRACE_TIMED)
#undef MEMTRACE_TIMED
  }
  return false;
}

// Flags of the allocator records 8…16: what differs from the context is present and becomes the
// context. Streams are raw cudaStream_t values; pools are the two words of a MempoolId_t.
inline constexpr std::uint8_t flag_stream = 1;  // v stream
inline constexpr std::uint8_t flag_pool = 2;    // v first, v second

// Flags of `report`, what the allocator told c10::reportMemoryUsageToProfiler right after the
// allocator record before it on the same device. Without a flag the field has its predicted value:
//   address      that of the latest alloc or free_requested record of the device
//   block bytes  that record's size rounded up to 512 (at least 512), negative for a free
//   allocated    the previous report's of the device, plus block bytes (0 before the first report)
//   reserved     the previous report's of the device, plus segment_alloc and segment_map sizes and
//                minus segment_free and segment_unmap sizes since then
// "Latest", "previous" and "since" look back no further than the start of the slot: as with the
// context, a prediction never needs an earlier slot (so a device's first report in a slot says
// its totals, unless they happen to equal the prediction from 0).
inline constexpr std::uint8_t report_address = 1;  // z address
inline constexpr std::uint8_t report_block = 2;    // z block bytes
inline constexpr std::uint8_t report_totals = 4;   // v allocated, v reserved

// Flags of `cuda_call`. Allocations are recorded after the real call, releases before it (the
// address may be reused at once); a release that then fails is taken back by cuda_undo.
// The meaning of the fields for each API: memtrace/cuda_calls.h. The record's device is that of the
// memory, not the current one, where the call tells.
inline constexpr std::uint8_t call_failed = 1;   // v error: CUresult or cudaError_t
inline constexpr std::uint8_t call_release = 2;  // gives memory back
// v owner: base name of the library that asked, as loaded ("libnccl.so.2"; "" is the program
// itself), seen from the address that the call came from. Absent: PyTorch's allocator, or unknown.
inline constexpr std::uint8_t call_owner = 4;
// For `cuda_undo`: v is the handle of memory that is known by a handle only.
inline constexpr std::uint8_t undo_handle = 1;

// The calls of a program to the allocator besides allocating. (a, b, text) by operation.
enum class operation : std::uint32_t {
  empty_cache_begin = 1,  // pool first, pool second
  empty_cache_end = 2,
  pool_begin = 3,            // pool first, pool second: allocations go to a private pool from here
  pool_end = 4,              // pool first, pool second
  pool_release = 5,          // pool first, pool second
  memory_fraction = 6,       // a: bits of the double
  settings = 7,              // text: the settings that now hold, as the program gave them; a: 1 if
                             // PyTorch refused them, and applied what stands before the fault
  event_synchronize = 8,     // a: event; inside an allocation (its retry waits for deferred frees)
  pool_create = 9,           // pool first, pool second; text: "allocator" if it has one of its own
  pool_no_split = 10,        // pool first, pool second: its blocks are not split
  pool_use_on_oom = 11,      // pool first, pool second; text: "on" or "off"
  unknown_entry_point = 12,  // text: a CUDA function that the program got by name and that memtrace
                             // does not know; a: the CUDA version that was asked for, 0: none; b: 1
                             // if it is known, but another function than the one that is recorded
  witness = 13,              // what CUPTI saw: see witness_separator
  witness_state = 14,        // a: 1 if CUPTI listens from here on, 0 if it does not (any more);
                             // b: records that it lost so far; text: see witness_separator
  gap = 15,  // a: events that were dropped before it; b: when the first of them was,
             // CLOCK_MONOTONIC ns; text: why
};

// The operation `witness`, whose record comes late: a is the address, b the bytes. text: fields
// in decimal, separated by 0x1f: CUpti_ActivityMemoryOperationType (1 allocation, 2 release),
// CUpti_ActivityMemoryKind, the time (ns, CLOCK_MONOTONIC as the trace has it), correlation id,
// context id, stream id, 1 if it is asynchronous, process id. Of a memory pool the first field is
// CUpti_ActivityMemoryPoolOperationType and 10 (11 made, 12 destroyed, 13 trimmed), the second 0.
// For `witness_state`, text: the time, CUPTI's version, and (a: 0) a sentence that says why.
inline constexpr char witness_separator = 0x1f;
inline constexpr std::uint32_t witness_pool_operation = 10;

}  // namespace memtrace::format

// The rest of it: flags and enumerations of the records of meaning, keys of `info`.
#include "memtrace/format_of_meaning.h"
#include "memtrace/info_keys.h"
