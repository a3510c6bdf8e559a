// SPDX-License-Identifier: Apache-2.0
//
// What calls of models, or of parts of them, were given; and whether a program looks at gradients itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "analyzer/judge/blocks/evidence.h"

namespace memtrace::blocks {

// Whether a call of a part was given only what wants no gradient itself, so that it needs no graph: as its
// first operation tells that keeps something for its backward pass. Not known where that is something that
// the part has made with its parameters; then it is taken to need one.
class given_operands {
 public:
  // To which part a block belongs; none: to no part that is asked about.
  using part_of = std::function<trace::object_id(const block_facts&)>;
  given_operands(const evidence& of, const part_of& whose);

  [[nodiscard]] bool needs_graph(trace::object_id part, std::uint32_t call) const;
  // Any of its calls.
  [[nodiscard]] bool needs_graph(trace::object_id part) const;

 private:
  struct operands {
    bool begun = false;  // an operation has kept what the part itself has made
    bool gradients = false;
    bool constants = false;
    [[nodiscard]] bool needs_graph() const { return gradients || !constants; }
  };
  std::map<std::pair<trace::object_id, std::uint32_t>, operands> calls_;
  std::map<trace::object_id, operands> all_;
};

// By a line of the program: a norm that it logs, or an update without an optimizer.
[[nodiscard]] bool are_gradients_read(const evidence& of);

}  // namespace memtrace::blocks
