// SPDX-License-Identifier: Apache-2.0
//
// The definitions that a trace makes once and then names by number: texts, frames, call stacks,
// threads, and the Python objects that it met.
//
//   stack 3 ─► {parent 2, frame 9}   stack 2 ─► {parent 1, frame 4}   stack 1 ─► {0, frame 1}
//   innermost                                                         outermost
//
// A parent's number is smaller than its child's, so chains end; every number is checked when it
// is defined, so that looking up cannot fail. Memory is proportional to what is defined, with
// limits far above any real trace.
//
// Beside them the texts of the program's files (format::source_*), by the file's name, and the growth
// that the program expects (format::expectation_*).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/trace/reader/ids.h"
#include "memtrace/records.h"

namespace memtrace::trace {

struct frame {
  text_id file;
  text_id function;
  std::uint32_t line = 0;  // 0: unknown
};

struct stack_node {
  stack_id parent;  // 0: this frame is the outermost
  frame_id innermost;
  std::uint32_t depth = 0;  // frames from here to the outermost
};

struct thread {
  std::uint64_t system_id = 0;
  text_id name;
};

// Why a file's text may be used, or not.
enum class source_state : std::uint8_t { usable, changed, too_large, unreadable, incomplete };

struct source_file {
  std::uint32_t flags = 0;        // format::source_*
  std::uint64_t modified_ns = 0;  // since 1970
  std::uint64_t bytes = 0;        // of the whole text
  std::string digest;             // SHA-256 of the whole text, in hexadecimal digits
  std::string text;               // as far as its parts have come; need not be UTF-8

  // Incomplete: parts are missing, or a privacy copy has left them out.
  [[nodiscard]] source_state state() const;
};

class dictionary {
 public:
  static constexpr std::size_t max_texts = 1u << 20;
  static constexpr std::size_t max_text_bytes = 256u << 20;
  static constexpr std::size_t max_frames = 1u << 22;
  static constexpr std::size_t max_stacks = 1u << 24;
  static constexpr std::size_t max_threads = 1u << 20;
  static constexpr std::size_t max_objects = 1u << 22;
  static constexpr std::uint32_t max_depth = 4096;  // the recorder cuts stacks at 1024

  enum class outcome { defined, unknown_id, too_many };

  [[nodiscard]] outcome define_text(std::string_view text);  // what is not UTF-8: as U+FFFD
  [[nodiscard]] outcome define_frame(std::uint64_t file, std::uint64_t function,
                                     std::uint64_t line);
  // What came before as text_of(), frame_of() and stack_of() have it.
  [[nodiscard]] outcome define_stack(std::uint64_t parent, std::uint64_t frame);
  // A stack that the trace does not have, on top of one that is there. None: there are too many, or
  // it is too deep. From here on a stack's id is not its number in the trace: see stack_of().
  [[nodiscard]] stack_id add_stack(stack_id outer, frame_id innermost);
  // A compiler made one kernel of these lines and of others: what is allocated for the one is the
  // other's memory, too.
  void fuse(stack_id lines, stack_id with);
  // A frame that the trace does not have. None: there are too many frames or texts.
  [[nodiscard]] frame_id add_frame(std::string_view file, std::string_view function,
                                   std::uint32_t line);
  // The next stack's number in the trace, for one that was added.
  [[nodiscard]] outcome define_stack_as(stack_id made);
  [[nodiscard]] const std::set<stack_id>& fused_with(stack_id lines) const;
  [[nodiscard]] outcome define_thread(std::uint64_t system_id, std::uint64_t name);

  [[nodiscard]] outcome define_object(std::uint64_t address);

  // A part of a file's text. One that does not follow the part before it is left out.
  [[nodiscard]] outcome add_source(const record::source<ids>& part);
  // Null where the trace has no such file.
  [[nodiscard]] const source_file* source_of(std::string_view file) const;
  // By the file's name, as frames have it.
  [[nodiscard]] const std::map<std::string_view, source_file>& sources() const { return sources_; }

  [[nodiscard]] outcome add_expectation(const record::expectation<ids>& said);
  [[nodiscard]] const std::vector<record::expectation<ids>>& expectations() const {
    return expectations_;
  }

  // Info `proved`; more than so many are left out.
  void add_proof(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& proofs() const { return proofs_; }

  // 0 is known: it means none.
  [[nodiscard]] bool knows_text(std::uint64_t number) const {
    return number <= defined_texts_.size();
  }
  [[nodiscard]] bool knows_frame(std::uint64_t number) const {
    return number <= defined_frames_.size();
  }
  [[nodiscard]] bool knows_stack(std::uint64_t number) const { return number <= defined_.size(); }
  [[nodiscard]] bool knows_thread(std::uint64_t number) const { return number <= threads_.size(); }
  [[nodiscard]] bool knows_object(std::uint64_t number) const { return number <= objects_.size(); }

  // What has this number in the trace. Its id is equal to that as long as none was added.
  [[nodiscard]] text_id text_of(std::uint64_t number) const {
    return number == 0 ? text_id{} : defined_texts_[number - 1];
  }
  [[nodiscard]] frame_id frame_of(std::uint64_t number) const {
    return number == 0 ? frame_id{} : defined_frames_[number - 1];
  }
  [[nodiscard]] stack_id stack_of(std::uint64_t number) const {
    return number == 0 ? stack_id{} : defined_[number - 1];
  }

  // The other way round; 0 for one that was added. Looks through all.
  [[nodiscard]] std::uint64_t number_of(stack_id stack) const;

  // For id 0: an empty text, an empty frame, a node without depth, an unnamed thread.
  [[nodiscard]] std::string_view operator[](text_id text) const;
  [[nodiscard]] frame operator[](frame_id frame) const;
  [[nodiscard]] stack_node operator[](stack_id stack) const;
  [[nodiscard]] thread operator[](thread_id thread) const;

  [[nodiscard]] thread_id last_thread() const {
    return thread_id{static_cast<std::uint32_t>(threads_.size())};
  }
  [[nodiscard]] object_id last_object() const {
    return object_id{static_cast<std::uint32_t>(objects_.size())};
  }
  [[nodiscard]] std::uint64_t address_of(object_id object) const;  // of none: 0
  [[nodiscard]] std::size_t stacks() const { return stacks_.size(); }

 private:
  [[nodiscard]] bool add_text(std::string_view written);

  std::vector<std::string_view> texts_;
  std::vector<frame> frames_;
  std::vector<stack_node> stacks_;
  std::vector<text_id> defined_texts_;                           // by the number in the trace - 1
  std::vector<frame_id> defined_frames_;                         // likewise
  std::vector<stack_id> defined_;                                // likewise
  std::unordered_map<std::uint32_t, std::set<stack_id>> fused_;  // by stack
  std::vector<thread> threads_;
  std::vector<std::uint64_t> objects_;
  std::map<std::string_view, source_file> sources_;
  std::size_t source_bytes_ = 0;
  std::vector<record::expectation<ids>> expectations_;
  std::vector<std::string> proofs_;
  std::vector<std::unique_ptr<char[]>> chunks_;  // the texts' bytes
  std::size_t chunk_left_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace memtrace::trace
