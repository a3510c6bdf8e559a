// SPDX-License-Identifier: Apache-2.0
//
// The history of a whole run, so that a person can look at any moment of it. Sizes are bytes, times
// nanoseconds since the trace was created; nothing refers to the trace any more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/model/attribution/result.h"
#include "analyzer/model/history/timeline.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::history {

// Events at single moments of a run: at most so many of a kind, evenly over the whole run.
struct mark {
  enum class kind : std::uint8_t { out_of_memory, retry, empty_cache, census };
  kind what{};
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t bytes = 0;  // out_of_memory: requested; retry: reserved after it; else 0
  std::string text;         // heap scan: why
};

// The first and the last are among them: a run often ends by running out of memory.
class even_marks {
 public:
  explicit even_marks(std::size_t most) : most_(most < 2 ? 2 : most) {}

  void add(mark one) {
    if (seen_++ % stride_ != 0) {
      last_ = std::move(one);
      return;
    }
    last_.reset();
    kept_.push_back(std::move(one));
    if (kept_.size() >= most_) halve();
  }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  // In their order.
  [[nodiscard]] std::vector<mark> take() {
    if (last_) kept_.push_back(*std::exchange(last_, std::nullopt));
    return std::exchange(kept_, {});
  }

 private:
  void halve() {
    if (kept_.size() % 2 == 0) last_ = kept_.back();
    for (std::size_t i = 2; i < kept_.size(); i += 2) kept_[i / 2] = std::move(kept_[i]);
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
  }

  std::size_t most_;
  std::uint64_t seen_ = 0;
  std::uint64_t stride_ = 1;
  std::vector<mark> kept_;    // each stride-th
  std::optional<mark> last_;  // where it is none of them
};

// Stretches of a run that have a name, such as its phases: at most so many, the longest.
struct band {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::string name;
};

class longest_bands {
 public:
  explicit longest_bands(std::size_t most) : most_(most) {}

  void add(band one) {
    if (one.end_ns <= one.begin_ns) return;
    all_.push_back(std::move(one));
    if (all_.size() >= 2 * most_) cut();
  }
  // Ascending begin.
  [[nodiscard]] std::vector<band> take() {
    cut();
    std::ranges::stable_sort(all_, {}, &band::begin_ns);
    return std::exchange(all_, {});
  }

 private:
  void cut() {
    if (all_.size() <= most_) return;
    const auto length = [](const band& one) { return one.end_ns - one.begin_ns; };
    std::ranges::stable_sort(all_, std::greater(), length);
    all_.resize(most_);
  }

  std::size_t most_;
  std::vector<band> all_;
};

// Call stacks as a tree; node 0 is the root, the parent of a node is its caller.
struct stack_tree {
  struct node {
    std::uint32_t parent = 0;
    std::uint32_t frame = 0;
  };
  std::vector<node> nodes;
  std::vector<code::source_frame> frames;
};

struct block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;  // before rounding; 0: not known
  std::uint64_t born_event = 0;
  std::uint64_t died_event = never;  // never: it lived to the end
  std::uint64_t born_ns = 0;
  std::uint64_t died_ns = 0;  // of those: the end
  std::uint64_t stream = 0;
  std::uint32_t stack = 0;    // nodes of the tree; 0: none
  std::uint32_t forward = 0;  // made in backward: the call whose gradient it was made for
  std::uint32_t module = 0;   // row of device_history::modules
  attribution::category what = attribution::category::unknown;
  attribution::evidence how = attribution::evidence::unknown;
  attribution::phase born_in = attribution::phase::other;
  std::string_view rule;  // a constant
  std::string name;       // of the parameter that it belongs to, …
  [[nodiscard]] double weight() const {
    return static_cast<double>(bytes) * static_cast<double>(died_ns - born_ns);
  }
};

// Blocks that are not kept, by their stack.
struct left_out {
  std::uint32_t stack = 0;
  std::uint64_t blocks = 0;
  std::uint64_t most_bytes = 0;  // the largest of them
  double byte_ns = 0;
};

struct device_history {
  std::uint64_t blocks_recorded = 0;
  std::vector<moment> moments;
  // The bytes of each category at each moment. Those that no recorded block accounts for are
  // unknown.
  std::vector<attribution::by_category<std::uint64_t>> held;
  std::vector<block> blocks;  // the largest by bytes times lifetime, ascending born_event
  std::vector<left_out> others;
  std::vector<attribution::module_row> modules;  // of which only the names are filled in
  std::vector<band> phases;
  std::vector<mark> marks;
  std::uint64_t marks_left_out = 0;
};

// The history of one trace.
struct run_history {
  stack_tree stacks;
  // The texts that the trace has of the program's own files, by name (code::source_of).
  std::map<std::string, std::string> sources;
  std::map<std::uint32_t, device_history> devices;
  std::uint64_t end_ns = 0;
};

}  // namespace memtrace::history
