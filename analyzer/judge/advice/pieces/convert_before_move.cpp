// SPDX-License-Identifier: Apache-2.0
//
// Weights that are moved to the GPU in 32 bits and converted to 16 bits there: both are on it for a
// while, and the wide ones set the peak of a program that only computes with narrow ones.
//
//   model.cuda().half()   becomes   model.to("cuda", torch.float16)
//
// PyTorch's copy from the host to another type converts on the host.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/program/later_uses.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::phase;

namespace {

constexpr std::uint8_t narrow_bits = 16;

// Tensors by which Module._apply replaces those of a module, as .to(), .cuda() and .half() do.
[[nodiscard]] bool replaces_weights(const blocks::evidence& of, trace::stack_id stack) {
  const auto frames = code::frames_of(of.names, stack);
  return std::ranges::any_of(frames, [](const code::source_frame& frame) {
    return frame.function == "_apply" && frame.file.ends_with("torch/nn/modules/module.py");
  });
}

struct replaced_weights {
  std::map<block_number, block_number> narrow_of;  // by the wide one
  std::vector<block_number> wide;                  // not converted yet when memory ran out
  std::uint64_t bytes = 0;                         // of both
  std::string line;
  trace::stack_id stack;  // of the move
};

// The line of the call that converts what the line of this stack moves to the GPU, by the program's
// text; empty: there is none.
[[nodiscard]] std::string line_that_narrows(const blocks::evidence& of, trace::stack_id stack) {
  const auto frames = code::frames_of(of.names, stack);
  const auto user = std::ranges::find_if(frames, &code::source_frame::user);
  const auto text = user == frames.end() ? std::nullopt : code::source_of(of.names, user->file);
  if (!text) return {};
  const auto line = program::narrowed_at(program::source_file(std::string(*text)), user->line);
  return line == 0 ? std::string() : code::place_of({user->file, line, user->function, true}, 1);
}

// Whether the program computes, with what it has by then, from one event to another.
[[nodiscard]] bool computes_between(const blocks::evidence& of, std::uint64_t from,
                                    block_number until) {
  for (auto block = block_from(of, from); block < until; ++block) {
    const auto during = of.blocks[block].born_in;
    if (during != phase::setup && during != phase::other && during != phase::data_loading)
      return true;
  }
  return false;
}

// _apply frees a wide weight as soon as it has made the narrow one.
[[nodiscard]] replaced_weights converted_in(const blocks::evidence& of) {
  replaced_weights found;
  std::map<trace::stack_id, bool> replaces;
  std::map<std::uint64_t, block_number> wide_by_death;
  const auto is_replacement = [&](block_number block) {
    const auto stack = of.blocks[block].stack;
    if (!stack) return false;
    const auto [known, fresh] = replaces.try_emplace(stack, false);
    if (fresh) known->second = replaces_weights(of, stack);
    return known->second;
  };
  std::vector<block_number> moved;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (!is_replacement(block)) continue;
    moved.push_back(block);
    wide_by_death.emplace(death_event(of, block), block);
  }
  bool is_narrow = false;
  for (const auto& [death, wide] : wide_by_death) {
    const auto after = block_from(of, death);  // the first that is born later
    if (after == 0 || after - 1 <= wide || !is_replacement(after - 1)) continue;
    const auto narrow = after - 1;
    if (bytes_of(of, narrow) * 2 != bytes_of(of, wide)) continue;
    const auto bits = of.blocks[narrow].element_bits;
    const bool is_other = bits != 0 && bits != narrow_bits;  // 64 bits to 32
    if (is_other || computes_between(of, birth_event(of, wide), narrow)) return {};
    is_narrow = is_narrow || bits == narrow_bits;
    found.narrow_of.emplace(wide, narrow);
    if (found.bytes == 0) {
      found.stack = of.blocks[wide].stack;
      found.line = line_of(of, of.blocks[narrow].stack);
    }
    found.bytes += bytes_of(of, wide);
  }
  // Only a part of what was moved becomes narrower: the rest has to be wide.
  const auto line = line_of(of, found.stack);
  const bool is_part = std::ranges::any_of(moved, [&](block_number block) {
    return of.blocks[block].element_bits == 2 * narrow_bits && !found.narrow_of.contains(block) &&
           line_of(of, of.blocks[block].stack) == line;
  });
  const bool is_told = is_narrow || !line_that_narrows(of, found.stack).empty();
  return is_part || !is_told ? replaced_weights() : found;
}

// Memory ran out in the move, or in the conversion, of which the rest then is to come.
void add_refused(const blocks::evidence& of, replaced_weights& found) {
  const auto refused = fatal_refusal(of);
  const auto refused_at = refused ? of.blocks[*refused].stack : trace::stack_id();
  if (!refused || !replaces_weights(of, refused_at)) return;
  const auto moved = found.narrow_of.empty() ? refused_at : found.stack;
  if (found.narrow_of.empty()) found.line = line_that_narrows(of, moved);
  if (found.line.empty()) return;
  const auto line = line_of(of, moved);
  for (block_number block = 0; block <= *refused; ++block) {
    const auto stack = of.blocks[block].stack;
    const bool is_wide = stack && !found.narrow_of.contains(block) && line_of(of, stack) == line;
    if (!is_wide) continue;
    found.wide.push_back(block);
    if (block != *refused) found.bytes += bytes_of(of, block);
  }
  found.stack = moved;
}

}  // namespace

proposals convert_before_move(const blocks::evidence& of) {
  const auto found = std::make_shared<replaced_weights>(converted_in(of));
  add_refused(of, *found);
  if (found->bytes == 0) return {};
  proposal made;
  made.id = "convert_before_move";
  made.title = "Weights are moved to the GPU in 32 bits and converted to 16 bits there";
  made.change = fmt::format(
      "model.to(\"cuda\", torch.float16) (or torch.bfloat16) in one call{}: the host converts",
      found->line.empty() ? "" : ", in place of the conversion at " + found->line);
  made.evidence = fmt::format("{} were moved before they were converted to half their size",
                              bytes_in_words(found->bytes));
  made.about = {found->bytes, "are weights before their conversion to 16 bits"};
  made.source = "the same weights at half their size from the start";
  made.cost = "none known: the host converts each weight once";
  made.free = true;
  made.not_when = "the program computes with the wide weights in between";
  made.group = "precision";
  made.how = found->wide.empty() ? proof::replayed : proof::estimated;
  made.device = of.log.device;
  made.stack = found->stack;
  made.rewrite = [found](allocator::request_log& log) {
    request_edits edits;
    for (const auto& one : found->narrow_of) edits.drop(one.first);
    for (const auto block : found->wide) edits.scale(block, 1, 2);
    edits.apply(log);
  };
  return {std::move(made)};
}

}  // namespace memtrace::advice
