// SPDX-License-Identifier: Apache-2.0
//
// The texts, frames and call stacks of a snapshot, each once. A frame says whether it is Python's:
// with stacks="all" PyTorch's C++ frames stand among them. Number 0 means none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/trace/reader/record_writer.h"

namespace memtrace::snapshot {

struct frame_facts {
  std::uint32_t file = 0;
  std::uint32_t function = 0;
  std::uint32_t line = 0;
  bool python = false;
  bool engine = false;     // C++: autograd's engine runs a node
  std::uint32_t node = 0;  // text: the node whose backward this is, MmBackward0
};

struct stack_node {
  std::uint32_t parent = 0;  // 0: the frame is the outermost
  std::uint32_t frame = 0;
};

// A stack as the events have it.
struct stack_facts {
  std::uint32_t python = 0;  // stack_node: of its Python frames
  std::uint32_t node = 0;    // text
  bool engine = false;
};

struct pair_hash {
  [[nodiscard]] std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& one) const {
    auto mixed = (one.first ^ 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 29) ^ one.second) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};

class names {
 public:
  names();

  // Cut to what a trace may have.
  [[nodiscard]] std::uint32_t text(std::string_view words);
  [[nodiscard]] std::uint32_t frame(std::uint32_t file, std::uint32_t function, std::uint32_t line);
  // Innermost first, as a snapshot has them.
  [[nodiscard]] std::uint32_t stack(std::span<const std::uint32_t> frames);

  [[nodiscard]] std::string_view text_of(std::uint32_t number) const;
  [[nodiscard]] const frame_facts& frame_of(std::uint32_t number) const { return frames_[number]; }
  [[nodiscard]] const stack_node& node_of(std::uint32_t number) const { return nodes_[number]; }
  [[nodiscard]] const stack_facts& stack_of(std::uint32_t number) const { return stacks_[number]; }
  // Some frame is autograd's or an optimizer's: the program trains.
  [[nodiscard]] bool trains() const { return trains_; }
  [[nodiscard]] bool has_python() const { return nodes_.size() > 1; }
  [[nodiscard]] bool has_engine() const { return has_engine_; }
  [[nodiscard]] bool has_cpp() const { return has_cpp_; }

 private:
  using pair = std::pair<std::uint64_t, std::uint64_t>;

  void learn(frame_facts& frame);
  [[nodiscard]] std::uint32_t node_on(std::uint32_t parent, std::uint32_t frame);

  std::vector<std::string_view> texts_;
  std::vector<frame_facts> frames_;
  std::vector<stack_node> nodes_;
  std::vector<stack_facts> stacks_;
  std::unordered_map<std::string_view, std::uint32_t> known_texts_;
  std::unordered_map<pair, std::uint32_t, pair_hash> known_frames_;
  std::unordered_map<pair, std::uint32_t, pair_hash> known_nodes_;
  std::unordered_map<pair, std::uint32_t, pair_hash> known_stacks_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_in_chunk_ = nullptr;
  std::size_t chunk_left_ = 0;
  bool trains_ = false;
  bool has_engine_ = false;
  bool has_cpp_ = false;
};

// The texts and stacks of a snapshot in the trace that is made of it: defined there when an event
// first names them. What is more than a trace may have stays out; its events have no stack then.
class trace_names {
 public:
  trace_names(const names& known, trace::record_writer& to) : known_(known), to_(to) {}

  [[nodiscard]] trace::text_id text(std::uint32_t number);
  [[nodiscard]] trace::stack_id stack(std::uint32_t number);  // of names::stack
  // A thread for what the frames show to be autograd's work, and one for all the rest.
  [[nodiscard]] trace::thread_id thread(std::uint32_t stack);

 private:
  [[nodiscard]] trace::frame_id frame(std::uint32_t number);
  [[nodiscard]] trace::stack_id node(std::uint32_t number);

  const names& known_;
  trace::record_writer& to_;
  std::vector<trace::text_id> texts_;    // by number; none: not yet
  std::vector<trace::frame_id> frames_;  // likewise
  std::vector<trace::stack_id> nodes_;   //
  std::vector<std::uint32_t> waiting_;   // nodes on the way to the outermost
  std::size_t text_bytes_ = 0;
  trace::thread_id autograd_;
};

}  // namespace memtrace::snapshot
