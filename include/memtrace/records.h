// SPDX-License-Identifier: Apache-2.0
//
// The fields of each record, once, in the order of the file. The analyzer's decoder, the lines of
// `memtrace dump` and the privacy copies of `memtrace scrub` are made from these lists:
// fields(io, record) hands every field to `io`, which reads, shows or disguises it. The recorder
// writes them by hand (recorder_*.cpp), where each instruction counts.
//
//   io.number         v (an integer, an enumeration; the bits of a double)
//   io.signed_number  z
//   io.address        z, the difference to the previous address, and becomes the previous one
//   io.near_address   the same in a skippable record: becomes nothing
//   io.id             v, the number of a stack, frame, thread or object
//   io.text           v, the number of a text
//   io.string         s
//   io.pool           two v
//   io.flag           no bytes: a flag of the record's tag
//   io.has(flag)      whether the optional field of that flag is there
//
// Each is given the field's name in a dump, its privacy (but a flag, which has no bytes), and the
// record's member. A field without its privacy does not compile, nor does a kind without a list.
//
// Not said here, because it depends on what came before: the context of the allocator records'
// stream and pool, and the predictions of `report` (decoder.cpp); and the order of a dump's line
// where it is not that of the file (`elsewhere`: dump.cpp).
//
// `Ids` says what names a text, a stack, …: types in the analyzer.
#pragma once

#include <cstdint>
#include <string_view>

#include "memtrace/field_privacy.h"
#include "memtrace/records_of_program.h"
#include "memtrace/trace_format.h"

namespace memtrace::record {

// A fact about the run (see info_key).
template <class Ids>
struct info {
  std::string_view key;
  std::string_view value;

  static constexpr void fields(auto& io, auto& r) {
    io.string("key", string_privacy::words, r.key);
    io.string("value", string_privacy::info_value, r.value);
  }
};

// Defines the next text id.
template <class Ids>
struct text {
  std::string_view words;

  static constexpr void fields(auto& io, auto& r) {
    io.string("text", string_privacy::dictionary, r.words);
  }
};

// Defines the next frame id.
template <class Ids>
struct frame {
  typename Ids::text file{};
  typename Ids::text function{};
  std::uint32_t line = 0;  // 0: unknown

  static constexpr void fields(auto& io, auto& r) {
    io.text("file", text_privacy::path, r.file);
    io.text("function", text_privacy::function, r.function);
    io.number("line", kept, r.line);
  }
};

// Defines the next stack id.
template <class Ids>
struct stack {
  typename Ids::stack parent{};  // none: the frame is the outermost
  typename Ids::frame innermost{};

  static constexpr void fields(auto& io, auto& r) {
    io.id("parent", kept, r.parent);
    io.id("frame", kept, r.innermost);
  }
};

// Defines the next thread id.
template <class Ids>
struct thread {
  std::uint64_t system_id = 0;
  typename Ids::text name{};

  static constexpr void fields(auto& io, auto& r) {
    io.number("thread", kept, r.system_id);
    io.text("name", text_privacy::words, r.name);
  }
};

template <class Ids>
struct device {
  std::uint32_t device = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t free_before_first_segment = 0;  // of PyTorch; 0: unknown
  std::uint64_t compute_major = 0;
  std::uint64_t compute_minor = 0;
  std::uint64_t multiprocessors = 0;
  typename Ids::text name{};

  static constexpr void fields(auto& io, auto& r) {
    io.number(elsewhere, kept, r.device);
    io.number("total", kept, r.total_bytes);
    io.number("free_before_first_segment", kept, r.free_before_first_segment);
    io.number("compute_major", kept, r.compute_major);
    io.number("compute_minor", kept, r.compute_minor);
    io.number("multiprocessors", kept, r.multiprocessors);
    io.text(elsewhere, text_privacy::known, r.name);
  }
};

// This applies to the records that follow.
template <class Ids>
struct context {
  std::uint32_t device = 0;
  typename Ids::thread thread{};

  static constexpr void fields(auto& io, auto& r) {
    io.number("device", kept, r.device);
    io.id("thread", kept, r.thread);
  }
};

// kind: alloc … oom. Of `snapshot` only the kind counts. An oom has no address.
template <class Ids>
struct allocator {
  format::kind kind{};
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t stream = 0;
  pool_id pool;
  typename Ids::stack stack{};
  std::uint64_t device_free = 0;  // oom only

  static constexpr unsigned tag_flags = format::flag_stream | format::flag_pool;
  static constexpr void fields(auto& io, auto& r) {
    if (r.kind == format::kind::oom) {
      io.number("device_free", kept, r.device_free);
    } else {
      io.address("address", kept, r.address);
    }
    io.number("size", kept, r.size);
    if (io.has(format::flag_stream)) io.number("stream", kept, r.stream);
    if (io.has(format::flag_pool)) io.pool("pool", kept, r.pool);
    io.id("stack", kept, r.stack);
  }
};

// The program took a snapshot.
template <class Ids>
struct snapshot {
  static constexpr void fields(auto&, auto&) {}
};

// The numbers that the allocator reported to PyTorch's profiler after an alloc or a free. See
// report_*.
template <class Ids>
struct report {
  std::uint32_t device = 0;  // of the context
  std::uint64_t address = 0;
  std::int64_t block_bytes = 0;  // negative for a free
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;

  static constexpr unsigned tag_flags =
      format::report_address | format::report_block | format::report_totals;
  static constexpr void fields(auto& io, auto& r) {
    if (io.has(format::report_address)) io.address("address", kept, r.address);
    if (io.has(format::report_block)) io.signed_number("block", kept, r.block_bytes);
    if (io.has(format::report_totals)) {
      io.number("allocated", kept, r.allocated);
      io.number("reserved", kept, r.reserved);
    }
  }
};

template <class Ids>
struct operation {
  std::uint64_t operation = 0;  // format::operation, or a later version's
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::string_view text;

  static constexpr void fields(auto& io, auto& r) {
    io.number(elsewhere, kept, r.operation);
    io.number("a", kept, r.a);
    io.number("b", kept, r.b);
    constexpr auto settings = static_cast<std::uint64_t>(format::operation::settings);
    const bool are_settings = r.operation == settings;
    io.string("text", are_settings ? string_privacy::settings : string_privacy::words, r.text);
  }
};

// See call_*.
template <class Ids>
struct cuda_call {
  typename Ids::text api{};
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t handle = 0;
  bool release = false;
  std::uint64_t error = 0;  // 0: it succeeded
  bool has_owner = false;
  typename Ids::text owner{};  // if it has one: base name of the library that asked
  typename Ids::stack stack{};

  static constexpr unsigned tag_flags =
      format::call_failed | format::call_release | format::call_owner;
  static constexpr void fields(auto& io, auto& r) {
    io.text("api", text_privacy::known, r.api);
    io.address("address", kept, r.address);
    io.number("size", kept, r.size);
    io.number("handle", kept, r.handle);
    io.flag("release", format::call_release, r.release);
    if (io.has(format::call_failed)) io.number("error", kept, r.error);
    io.flag(elsewhere, format::call_owner, r.has_owner);
    if (io.has(format::call_owner)) io.text("owner", text_privacy::words, r.owner);
    io.id("stack", kept, r.stack);
  }
};

// The release before failed.
template <class Ids>
struct cuda_undo {
  typename Ids::text api{};
  std::uint64_t address = 0;
  std::uint64_t handle = 0;
  std::uint64_t error = 0;

  static constexpr unsigned tag_flags = format::undo_handle;
  static constexpr void fields(auto& io, auto& r) {
    io.text("api", text_privacy::known, r.api);
    io.address("address", kept, r.address);
    io.number(elsewhere, kept, r.error);
    if (io.has(format::undo_handle)) io.number(elsewhere, kept, r.handle);
  }
};

template <class Ids>
struct message {
  std::uint64_t severity = 0;  // 0 a note, 1 data is missing
  std::string_view text;

  static constexpr void fields(auto& io, auto& r) {
    io.number("severity", kept, r.severity);
    io.string("text", string_privacy::words, r.text);
  }
};

// Without a tracker: the fallback.
template <class Ids>
struct reported {
  bool is_alloc = false;  // by the kind
  std::uint64_t address = 0;
  std::uint64_t block_bytes = 0;
  typename Ids::stack stack{};

  static constexpr void fields(auto& io, auto& r) {
    io.address("address", kept, r.address);
    io.number("block", kept, r.block_bytes);
    io.id("stack", kept, r.stack);
  }
};

// Where in the model and the autograd graph something happened.
template <class Ids>
struct scope {
  std::uint32_t flags = 0;        // format::scope_*
  typename Ids::object module{};  // innermost nn.Module whose forward runs
  typename Ids::object root{};    // outermost
  typename Ids::stack forward{};  // in backward: the call whose gradient is computed
  typename Ids::text node{};      // in backward: its autograd node, such as MmBackward0

  [[nodiscard]] bool operator==(const scope&) const = default;
  [[nodiscard]] bool in_backward() const { return (flags & format::scope_backward) != 0; }

  static constexpr void fields(auto& io, auto& r) {
    io.number("scope", kept, r.flags);
    io.id("module", kept, r.module);
    io.id("root", kept, r.root);
    if (!r.in_backward()) return;
    io.id("forward", kept, r.forward);
    io.text("node", text_privacy::words, r.node);
  }
};

// `object` is the module at `path` of the model whose outermost module is `root`.
template <class Ids>
struct module {
  typename Ids::object object{};
  typename Ids::object root{};
  typename Ids::text path{};  // empty text: the root itself
  typename Ids::text type{};
  std::uint32_t flags = 0;  // format::module_*

  static constexpr void fields(auto& io, auto& r) {
    io.id("object", kept, r.object);
    io.id("root", kept, r.root);
    io.text("path", text_privacy::words, r.path);
    io.text("type", text_privacy::words, r.type);
    io.number("flags", kept, r.flags);
  }
};

// Defines the next object id; or, with address 0, names a module.
template <class Ids>
struct object {
  std::uint64_t address = 0;
  record::module<Ids> module{};

  static constexpr void fields(auto& io, auto& r) {
    io.number("address", kept, r.address);
    if (r.address == 0) record::module<Ids>::fields(io, r.module);
  }
};

// The memory that begins at `address` has this role. Holds for the block that lives there now.
template <class Ids>
struct storage {
  format::storage_role role{};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: unknown; see format::storage_role for roles where it is an address
  typename Ids::text name{};
  typename Ids::text detail{};
  typename Ids::object object{};
  std::uint32_t flags = 0;  // format::storage_*
  // For `generated` only:
  typename Ids::text file{};     // of the generated code
  std::uint32_t line = 0;        // in it
  typename Ids::stack source{};  // the program's lines that it was made from
  typename Ids::object owner{};  // the module whose forward was compiled; none: not known

  static constexpr void fields(auto& io, auto& r) {
    io.number("role", kept, r.role);
    io.near_address("address", kept, r.address);
    io.number("bytes", kept, r.bytes);
    io.text("name", text_privacy::words, r.name);
    const bool is_held = r.role == format::storage_role::held;
    io.text("detail", is_held ? text_privacy::held_detail : text_privacy::words, r.detail);
    io.id("object", kept, r.object);
    io.number("flags", kept, r.flags);
    if (r.role != format::storage_role::generated) return;
    io.text("file", text_privacy::path, r.file);
    io.number("line", kept, r.line);
    io.id("source", kept, r.source);
    io.id("owner", kept, r.owner);
  }
};

// Autograd keeps a tensor in the memory that begins at `address`.
template <class Ids>
struct saved {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;        // of the tensor, which may be a part of the storage
  std::uint32_t flags = 0;        // format::saved_*
  std::uint32_t scalar_type = 0;  // c10::ScalarType
  std::uint32_t dimensions = 0;
  std::uint64_t rows = 0;     // size of the last dimension but one, 0 where there is none
  std::uint64_t columns = 0;  // size of the last

  static constexpr void fields(auto& io, auto& r) {
    io.near_address("address", kept, r.address);
    io.number("bytes", kept, r.bytes);
    io.number("flags", kept, r.flags);
    io.number("scalar_type", kept, r.scalar_type);
    io.number("dimensions", kept, r.dimensions);
    io.number("rows", kept, r.rows);
    io.number("columns", kept, r.columns);
  }
};

template <class Ids>
struct phase {
  format::phase_action action{};
  format::phase_source source{};
  typename Ids::object object{};
  typename Ids::text name{};

  static constexpr void fields(auto& io, auto& r) {
    io.number("action", kept, r.action);
    io.number("source", kept, r.source);
    io.id("object", kept, r.object);
    io.text("name", text_privacy::words, r.name);
  }
};

// A training step has ended.
template <class Ids>
struct step {
  format::step_source source{};
  typename Ids::object object{};
  typename Ids::text name{};

  static constexpr void fields(auto& io, auto& r) {
    io.number("source", kept, r.source);
    io.id("object", kept, r.object);
    io.text("name", text_privacy::words, r.name);
  }
};

template <class Ids>
struct counter {
  typename Ids::text name{};
  double value = 0;

  static constexpr void fields(auto& io, auto& r) {
    io.text("name", text_privacy::counter, r.name);
    io.number("value", kept, r.value);
  }
};

template <class Ids>
struct census {
  format::census_action action{};
  format::census_reason reason{};
  std::uint32_t flags = 0;  // format::heap_scan_*
  std::uint64_t bytes = 0;  // of the storages that were found
  std::uint64_t nanoseconds = 0;

  static constexpr void fields(auto& io, auto& r) {
    io.number("action", kept, r.action);
    io.number("reason", kept, r.reason);
    io.number("flags", kept, r.flags);
    io.number("bytes", kept, r.bytes);
    io.number("nanoseconds", kept, r.nanoseconds);
  }
};

template <format::kind Kind, class Ids>
struct of_kind;
#define MEMTRACE_OF_KIND(name, number, timed, record) \
  template <class Ids>                                \
  struct of_kind<format::kind::name, Ids> {           \
    using type = record<Ids>;                         \
  };
MEMTRACE_RECORD_KINDS(MEMTRACE_OF_KIND)
#undef MEMTRACE_OF_KIND

// use(record): an empty one of that kind. Where there is no such kind: `otherwise`.
template <class Ids, class Result, class Use>
[[nodiscard]] constexpr Result with_record_of(format::kind kind, Result otherwise, const Use& use) {
  switch (kind) {
#define MEMTRACE_USE(name, number, timed, record) \
  case format::kind::name:                        \
    return use(record<Ids>{});
    MEMTRACE_RECORD_KINDS(MEMTRACE_USE)
#undef MEMTRACE_USE
  }
  return otherwise;
}

// The flags that the record's tag may have.
template <class Record>
[[nodiscard]] consteval unsigned tag_flags() {
  if constexpr (requires { Record::tag_flags; }) return Record::tag_flags;
  return 0;
}

}  // namespace memtrace::record
