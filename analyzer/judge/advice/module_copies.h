// SPDX-License-Identifier: Apache-2.0
//
// The modules of one class that a model repeats: its layers, its blocks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"

namespace memtrace::advice {

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

}  // namespace memtrace::advice
