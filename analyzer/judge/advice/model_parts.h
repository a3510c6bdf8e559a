// SPDX-License-Identifier: Apache-2.0
//
// Parts of a model: the modules that it repeats, and what an optimizer keeps of its parameters.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/model/allocator/request_edits.h"

namespace memtrace::advice {

// The modules of one class that a model repeats: its layers, its blocks.

// Classes of which a model has two modules or more with other modules inside, that are not
// checkpointed yet.
[[nodiscard]] std::vector<std::string> repeated_types(const blocks::evidence& of);

// For each module, in which of the modules of this class it lies: the outermost, where they nest.
class module_copies {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;

  module_copies(const blocks::evidence& of, std::string_view type);
  [[nodiscard]] std::uint32_t of(trace::object_id module) const;
  [[nodiscard]] bool is_copy_itself(trace::object_id module) const;

 private:
  struct place {
    std::uint32_t copy = none;
    bool itself = false;
  };
  std::map<trace::object_id, place> places_;
};

// Memory that an optimizer keeps and needs on a device, by the kind of its states, and the weights
// that it trains.

struct optimizer_blocks {
  // Those of Adam and its kin: "exp_avg" and "exp_avg_sq".
  std::vector<allocator::block_number> first_moments;
  std::vector<allocator::block_number> second_moments;
  std::vector<allocator::block_number> other_states;
  // Made by the foreach form of torch.optim, which works on all parameters at once.
  std::vector<allocator::block_number> temporaries;
  std::string form;  // of the function that made them: _multi_tensor_adamw
  std::uint64_t moment_bytes = 0;
  std::uint64_t most_temporary_bytes = 0;  // at once
  [[nodiscard]] bool is_adam() const { return !first_moments.empty() && !second_moments.empty(); }
};

[[nodiscard]] optimizer_blocks optimizer_blocks_of(const blocks::evidence& of);

// The blocks of weights by root and name, and what is known of their shape.
struct weight_shape {
  allocator::block_number block = 0;  // the weights themselves
  std::uint64_t elements = 0;
  std::uint32_t rows = 0;  // 0: no matrix, or not known
  std::uint32_t columns = 0;
  std::uint8_t element_bits = 32;
};
class weight_shapes {
 public:
  explicit weight_shapes(const blocks::evidence& of);
  // Null: not known.
  [[nodiscard]] const weight_shape* of(const blocks::block_facts& block) const;

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, weight_shape> known_;  // by root and name
};

// Models, and parts of them, whose gradients no optimizer has looked at, though they were there at the
// ends of two steps, or whose parameters none had when memory ran out: a teacher, a network that only
// computes a loss, a backbone below a head that is trained. None where no optimizer has a model's own
// parameters, but copies of them.
class untrained_parts {
 public:
  explicit untrained_parts(const blocks::evidence& of);

  [[nodiscard]] bool empty() const { return of_root_.empty(); }
  // The outermost module of the part that a block belongs to; none: it belongs to no such part.
  [[nodiscard]] trace::object_id part_of(const blocks::block_facts& facts) const;

 private:
  struct part {
    std::string_view path;  // in the root; empty: all of it
    trace::object_id module;
  };
  [[nodiscard]] trace::object_id find(trace::object_id root, std::string_view path) const;

  const blocks::evidence& of_;
  std::map<trace::object_id, std::vector<part>> of_root_;
};

// Puts a gradient of each weight where a run ended in its first forward pass: from this event on, if
// all of them are trained.
void expect_gradients(const blocks::evidence& of, std::uint64_t event,
                      allocator::request_edits& edits);

}  // namespace memtrace::advice
