// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/blocks/given_operands.h"

#include <algorithm>
#include <string>

#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/program/later_uses.h"

namespace memtrace::blocks {

using attribution::category;
using attribution::phase;

namespace {

// A copy of what it was given; not its positions, or a mask.
[[nodiscard]] bool is_of_numbers(const block_facts& facts) {
  return facts.element_bits == 16 || facts.element_bits == 32;
}

}  // namespace

given_operands::given_operands(const evidence& of, const part_of& whose) {
  for (const auto& kept : of.keepings) {
    const auto by = block_from(of, kept.before);
    const auto operand = block_from(of, kept.block_event);
    if (kept.output || by >= of.blocks.size() || operand >= of.blocks.size()) continue;
    const auto maker = of.blocks[by];
    const auto part = maker.born_in == phase::forward ? whose(maker) : trace::object_id();
    const auto facts = of.blocks[operand];
    if (!part || (facts.what == category::weights && facts.name)) continue;
    const bool is_own = whose(facts) == part;
    auto& call = calls_[{part, maker.call}];
    call.begun = call.begun || (is_own && kept.needs_gradient);
    if (kept.needs_gradient && !is_own) {
      call.gradients = all_[part].gradients = true;
    } else if (!kept.needs_gradient && !call.begun && (!is_own || is_of_numbers(facts))) {
      call.constants = all_[part].constants = true;
    }
  }
}

bool given_operands::needs_graph(trace::object_id part, std::uint32_t call) const {
  const auto known = calls_.find({part, call});
  return known == calls_.end() || known->second.needs_graph();
}

bool given_operands::needs_graph(trace::object_id part) const {
  const auto known = all_.find(part);
  return known == all_.end() || known->second.needs_graph();
}

bool are_gradients_read(const evidence& of) {
  return std::ranges::any_of(of.names.sources(), [](const auto& file) {
    // Without the word there is nothing to parse for it.
    if (file.second.text.find("grad") == std::string::npos &&
        file.second.text.find("register_hook") == std::string::npos)
      return false;
    return program::reads_gradients(program::source_file(std::string(file.second.text)));
  });
}

}  // namespace memtrace::blocks
