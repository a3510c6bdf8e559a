// SPDX-License-Identifier: Apache-2.0
//
// Copies of a model's weights that no forward pass uses: a moving average of them, the checkpoint that
// they were loaded from, or copies that the program makes of its state time and again.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/judge/advice/pieces.h"
#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;

namespace {

// Weights of the models that ran, by size in bytes: how many there are. The agent publishes the
// parameters of those, by name.
[[nodiscard]] std::map<std::uint64_t, std::size_t> sizes_of_models(const blocks::evidence& of) {
  std::map<std::uint64_t, std::size_t> counts;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // root and name
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what != category::weights || !facts.name || facts.unused_copy) continue;
    if (seen.insert({facts.root.value, facts.name.value}).second) ++counts[bytes_of(of, block)];
  }
  return counts;
}

[[nodiscard]] bool outlives_training(const blocks::evidence& of, const blocks::block_facts& facts) {
  const auto steps = static_cast<std::uint32_t>(of.step_ends.size());
  return facts.death_step == blocks::never || facts.death_step >= steps;
}

// Told by the agent, or as many weights without a name as a model has, of the same sizes, and
// there to the end.
[[nodiscard]] std::vector<block_number> copies_in(const blocks::evidence& of) {
  std::vector<block_number> told;
  std::vector<block_number> alike;
  std::uint64_t unnamed = 0;
  std::uint64_t alike_bytes = 0;
  auto sizes = sizes_of_models(of);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what != category::weights) continue;
    if (facts.unused_copy) told.push_back(block);
    if (facts.name || facts.kept_by_autograd || !outlives_training(of, facts)) continue;
    unnamed += bytes_of(of, block);
    const auto left = sizes.find(bytes_of(of, block));
    if (left == sizes.end() || left->second == 0) continue;
    --left->second;
    alike_bytes += bytes_of(of, block);
    alike.push_back(block);
  }
  if (alike_bytes * 10 >= unnamed * 9) told.insert(told.end(), alike.begin(), alike.end());
  return told;
}

// What a file was loaded into, is there at the peak beside the model, and has the sizes of its
// parameters: one tensor for each of them. Others of these sizes are an optimizer's states, which
// load_state_dict() takes as they are where device and type agree.
[[nodiscard]] std::vector<block_number> loaded_at_peak(const blocks::evidence& of) {
  std::map<trace::stack_id, bool> loaded;
  std::vector<block_number> found;
  std::uint64_t all = 0;
  std::uint64_t alike = 0;
  auto sizes = sizes_of_models(of);
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    const auto& facts = of.blocks[block];
    const bool is_in_use = facts.what == category::weights ||
                           facts.what == category::optimizer_states ||
                           facts.what == category::buffers || facts.kept_by_autograd;
    if (is_in_use || !facts.stack) continue;
    const auto [known, fresh] = loaded.try_emplace(facts.stack, false);
    if (fresh) known->second = is_loaded(of, facts.stack);
    if (!known->second) continue;
    all += bytes_of(of, block);
    const auto size = sizes.find(bytes_of(of, block));
    if (size == sizes.end()) continue;
    alike += bytes_of(of, block);
    if (size->second == 0) continue;
    --size->second;
    found.push_back(block);
  }
  if (alike * 10 < all * 9) found.clear();
  return found;
}

// Memory ran out while a file was read: what came of it, if a model with tensors of the same sizes is there
// already, into which they will be copied.
[[nodiscard]] std::vector<block_number> loaded_until_refusal(const blocks::evidence& of) {
  const auto refused = fatal_refusal(of);
  if (!refused || of.log.allocations[*refused] == 0) return {};
  if (!is_loaded(of, of.blocks[*refused].stack)) return {};
  std::map<std::uint64_t, std::size_t> sizes;
  std::vector<block_number> loaded;
  for (const auto block : alive_after(of, of.log.allocations[*refused] - 1)) {
    const auto facts = of.blocks[block];
    if (facts.stack && is_loaded(of, facts.stack)) {
      loaded.push_back(block);
    } else if (facts.what == category::weights) {
      ++sizes[bytes_of(of, block)];
    }
  }
  std::uint64_t all = 0;
  std::uint64_t alike = 0;
  for (const auto block : loaded) {
    all += bytes_of(of, block);
    const auto size = sizes.find(bytes_of(of, block));
    if (size == sizes.end() || size->second == 0) continue;
    --size->second;
    alike += bytes_of(of, block);
  }
  return alike * 10 >= all * 9 ? loaded : std::vector<block_number>();
}

[[nodiscard]] proposals loaded_checkpoint(const blocks::evidence& of) {
  auto loaded = loaded_at_peak(of);
  if (loaded.empty()) loaded = loaded_until_refusal(of);
  if (loaded.empty()) return {};
  std::uint64_t bytes = 0;
  auto largest = loaded.front();
  for (const auto block : loaded) {
    bytes += bytes_of(of, block);
    if (bytes_of(of, block) > bytes_of(of, largest)) largest = block;
  }
  proposal made;
  made.id = "loaded_checkpoint";
  made.title = "A checkpoint stays on the GPU beside the model that was made from it";
  const auto line = line_of(of, of.blocks[largest].stack);
  made.change = fmt::format(
      "map_location=\"cpu\" in torch.load{} (device=\"cpu\" in safetensors): load_state_dict() "
      "copies from there, too; or del of the checkpoint and all its parts right after that",
      line.empty() ? "" : " at " + line);
  made.evidence = fmt::format("{} in {} tensors of a file, each as large as a parameter",
                              bytes_in_words(bytes), loaded.size());
  made.about = {bytes, "are a checkpoint beside its model"};
  made.free = true;
  made.cost = "none known";
  made.not_when = "the program computes with the loaded tensors themselves";
  made.how = proof::replayed;
  made.device = of.log.device;
  made.stack = of.blocks[largest].stack;
  made.rewrite = [loaded](allocator::request_log& log) {
    request_edits edits;
    for (const auto block : loaded) edits.drop(block);
    edits.apply(log);
  };
  return {std::move(made)};
}

// What one line has made of a model's state: as much as one model at least.
struct copied_state {
  std::vector<block_number> blocks;  // of the whole run
  std::uint64_t at_peak = 0;         // bytes
  trace::stack_id stack;             // of the line that has most of them there
};

[[nodiscard]] bool can_be_copy(const blocks::block_facts& facts) {
  const bool is_in_use = facts.what == category::weights || facts.what == category::gradients ||
                         facts.what == category::optimizer_states || facts.kept_by_autograd ||
                         facts.call != 0;
  return !is_in_use && facts.stack;
}

// Beyond the end of the step after that in which it was made, or to the end.
[[nodiscard]] bool stays(const blocks::block_facts& facts) {
  return facts.death_step == blocks::never ||
         (facts.generation != blocks::never && facts.death_step > facts.generation + 1);
}

// Lines that make tensors of all the sizes that a model's parameters have, and hardly any other, in more
// than one step: copies of its state_dict(). What is made once may be an average or an optimizer's own
// moments, with which each step computes.
[[nodiscard]] copied_state copied_states(const blocks::evidence& of) {
  const auto sizes = sizes_of_models(of);
  std::uint64_t model = 0;
  for (const auto& [bytes, count] : sizes) model += bytes * count;
  struct made_by_line {
    std::uint64_t bytes = 0;
    std::uint64_t alike = 0;
    std::map<std::uint64_t, std::size_t> counts;  // of those that are alike, by size
    std::set<std::uint32_t> steps;                // in which they were made
  };
  std::map<trace::stack_id, made_by_line> lines;
  for (const auto block : alive_after(of, of.now.allocated.request)) {
    const auto facts = of.blocks[block];
    if (!can_be_copy(facts) || !stays(facts)) continue;
    auto& line = lines[facts.stack];
    const auto bytes = bytes_of(of, block);
    line.bytes += bytes;
    if (!sizes.contains(bytes)) continue;
    line.alike += bytes;
    ++line.counts[bytes];
  }
  for (block_number block = 0; block < of.blocks.size() && !lines.empty(); ++block) {
    const auto facts = of.blocks[block];
    const auto line = lines.find(facts.stack);
    if (line != lines.end() && can_be_copy(facts)) line->second.steps.insert(facts.generation);
  }
  std::erase_if(lines, [&](const auto& one) {
    std::uint64_t covered = 0;
    std::size_t tensors = 0;
    for (const auto& [bytes, count] : one.second.counts) {
      covered += bytes * std::min(count, sizes.at(bytes));
      tensors += count;
    }
    // An input may be as large as one matrix of weights.
    constexpr std::size_t fewest = 4;
    if (tensors < fewest || one.second.counts.size() == 1 || one.second.steps.size() == 1)
      return true;
    return one.second.alike * 10 < one.second.bytes * 9 || covered * 10 < model * 9 ||
           is_loaded(of, one.first);
  });
  copied_state found;
  std::uint64_t most = 0;
  for (const auto& [stack, line] : lines) {
    found.at_peak += line.bytes;
    if (line.bytes > most) found.stack = stack;
    most = std::max(most, line.bytes);
  }
  for (block_number block = 0; block < of.blocks.size() && !lines.empty(); ++block) {
    const auto facts = of.blocks[block];
    if (lines.contains(facts.stack) && can_be_copy(facts)) found.blocks.push_back(block);
  }
  return found;
}

[[nodiscard]] proposals state_copies(const blocks::evidence& of) {
  const auto copies = copied_states(of);
  if (copies.blocks.empty()) return {};
  proposal made;
  made.id = "state_copies";
  made.title = "Copies as large as a model's parameters stay on the GPU";
  const auto line = line_of(of, copies.stack);
  made.change = fmt::format(
      "keep them on the host{}: .cpu() in the place of each clone(); of a state_dict "
      "{{name: value.cpu() for name, value in model.state_dict().items()}}, and an optimizer's "
      "likewise",
      line.empty() ? "" : ", where they are made at " + line);
  made.evidence =
      fmt::format("{} at the peak, in tensors of the sizes that the model's parameters have",
                  bytes_in_words(copies.at_peak));
  made.about = {copies.at_peak, "are copies as large as the model's parameters"};
  made.cost = "a copy to the host each time; load_state_dict() takes it from there";
  made.not_when = "the program computes with the copies at every step";
  made.how = proof::replayed;
  made.device = of.log.device;
  made.stack = copies.stack;
  made.rewrite = [copied = copies.blocks](allocator::request_log& log) {
    request_edits edits;
    for (const auto block : copied) edits.drop(block);
    edits.apply(log);
  };
  return {std::move(made)};
}

}  // namespace

proposals weights_copy(const blocks::evidence& of) {
  auto all = loaded_checkpoint(of);
  for (auto& one : state_copies(of)) all.push_back(std::move(one));
  const auto copies = copies_in(of);
  if (copies.empty()) return all;
  std::uint64_t bytes = 0;
  for (const auto block : copies) bytes += bytes_of(of, block);
  proposal made;
  made.id = "weights_copy";
  made.title = "Weights are on the GPU a second time, and no forward pass uses the copy";
  made.change =
      "keep the copy on the host (copy.deepcopy(model).cpu()), and update it with "
      "new.detach().to(\"cpu\"), if need be every few steps";
  made.evidence = fmt::format("{} in {} parameters of models that are never called",
                              bytes_in_words(bytes), copies.size());
  made.about = {bytes, "are weights that no forward pass uses"};
  made.cost = "each update copies the weights to the host; evaluation with the copy moves it back";
  made.not_when = "the copy is evaluated or updated at every step and the transfer counts";
  made.how = proof::replayed;
  made.device = of.log.device;
  made.stack = of.blocks[copies.front()].stack;
  made.rewrite = [copies](allocator::request_log& log) {
    request_edits edits;
    for (const auto block : copies) edits.drop(block);
    edits.apply(log);
  };
  all.push_back(std::move(made));
  return all;
}

}  // namespace memtrace::advice
