// SPDX-License-Identifier: Apache-2.0
//
// Reads a pickled snapshot from its first to its last byte, in one pass. It is no interpreter of
// pickles: only the opcodes that plain data is made of are known, and a file that asks for anything
// else, which Python would look up, make or call, is refused there. Nothing is ever executed.
//
// Memory: 4 bytes for each object that the file numbers (pickle's memo), each text, frame and call
// stack once, and the segments and blocks; events go to the log as they are read.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/model/snapshot/contents.h"
#include "analyzer/model/snapshot/opcodes.h"
#include "analyzer/model/snapshot/pickle_value.h"
#include "analyzer/model/snapshot/sequential_input.h"
#include "analyzer/model/snapshot/shapes.h"
#include "analyzer/trace/reader/error.h"

namespace memtrace::snapshot {

// The remedy of sentences about what is none.
inline constexpr char how_to_make_one[] = "make one with torch.cuda.memory._dump_snapshot(FILE)";

class pickle_reader {
 public:
  // Bytes read, of so many; now and then.
  using on_progress_t = std::function<void(std::uint64_t, std::uint64_t)>;

  pickle_reader(trace::byte_source& source, contents& to);

  // Errors: corrupt_snapshot, not_a_snapshot, io_error; with the offset.
  [[nodiscard]] trace::status read(const on_progress_t& on_progress = {});

 private:
  [[nodiscard]] bool step(std::uint8_t code);  // false: the end, or failure_ says why
  [[nodiscard]] bool refuse(std::uint8_t code);
  [[nodiscard]] bool damaged(std::string what);
  [[nodiscard]] bool cut_off();
  [[nodiscard]] bool no_snapshot(std::string what);

  [[nodiscard]] bool push(const value& one);
  [[nodiscard]] bool push_text(std::uint64_t bytes);
  [[nodiscard]] bool push_long(std::uint64_t bytes);
  [[nodiscard]] bool push_object(shape what);
  [[nodiscard]] bool push_tuple(std::size_t items);
  [[nodiscard]] bool put(std::uint64_t place);
  [[nodiscard]] bool get(std::uint64_t place);
  // The items above the container's place on the stack go into it.
  [[nodiscard]] bool append(std::size_t container);
  [[nodiscard]] bool set(std::size_t container);
  [[nodiscard]] bool after_mark(std::size_t& place);
  [[nodiscard]] bool is_fine(shapes::outcome what);
  [[nodiscard]] object* object_at(std::size_t place);

  contents& to_;
  sequential_input from_;
  shapes shapes_;
  std::vector<value> stack_;
  std::vector<std::size_t> marks_;
  std::vector<std::uint32_t> memo_;
  std::uint64_t puts_ = 0;
  std::vector<object> objects_;
  std::vector<std::uint32_t> free_objects_;
  std::uint64_t opcode_at_ = 0;
  trace::status failure_;
};

}  // namespace memtrace::snapshot
