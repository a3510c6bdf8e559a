// SPDX-License-Identifier: Apache-2.0
//
// In how many parts a batch can be divided: not one sample, and not where each row is computed with
// all others.
#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <utility>

#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

using root_and_path = std::pair<std::uint32_t, std::string_view>;  // of a module

// The channels of what each module with parameters makes: its smallest parameter has one number
// for each (a bias, a factor). 0: it has a matrix, as a projection has, whose outputs have no
// dimension of channels before their last two.
[[nodiscard]] std::map<root_and_path, std::uint64_t> channels_by_module(
    const blocks::evidence& of) {
  std::map<root_and_path, std::uint64_t> channels;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (facts.what != category::weights || !facts.name || facts.element_bits == 0) continue;
    // A convolution's weight is no such parameter, where it has no bias beside it.
    if (facts.dimensions > 2) continue;
    const auto numbers = bytes_of(of, block) * 8 / facts.element_bits;
    const auto parameter = of.names[facts.name];
    const auto dot = parameter.rfind('.');
    const root_and_path key{facts.root.value, parameter.substr(0, dot == parameter.npos ? 0 : dot)};
    const auto [known, fresh] = channels.try_emplace(key, numbers);
    known->second = facts.dimensions == 2 ? 0 : std::min(known->second, numbers);
  }
  return channels;
}

// The first dimension of a tensor of three, or of four where the second is known; 0: not known.
[[nodiscard]] std::uint64_t first_dimension(
    const blocks::evidence& of, block_number block,
    const std::map<root_and_path, std::uint64_t>& channels) {
  const auto& facts = of.blocks[block];
  const auto numbers = facts.element_bits == 0 ? 0 : bytes_of(of, block) * 8 / facts.element_bits;
  const auto last_two = std::uint64_t{facts.rows} * facts.columns;
  if (numbers == 0 || last_two == 0 || numbers % last_two != 0) return 0;
  const auto leading = numbers / last_two;
  if (facts.dimensions == 3) return leading;
  const auto module = of.modules.find(facts.module);
  if (facts.dimensions != 4 || module == of.modules.end()) return 0;
  const auto known = channels.find({module->second.root.value, of.names[module->second.path]});
  if (known == channels.end() || known->second == 0) return 0;
  return leading % known->second == 0 ? leading / known->second : 0;
}

}  // namespace

std::map<std::uint64_t, std::uint64_t> bytes_by_first_dimension(const blocks::evidence& of,
                                                                const blocks::run_passes& passes,
                                                                blocks::activity which) {
  const auto channels = channels_by_module(of);
  const bool is_found =
      std::ranges::any_of(of.blocks, [](const auto& one) { return one.first != 0; });
  const auto scales = is_found ? scales_with_batch(of, passes, which) : std::vector<bool>();
  const auto is_kept = [&](const blocks::block_facts& facts) {
    return facts.kept_by_autograd && facts.what == category::activations &&
           facts.born_in == phase::forward;
  };
  std::map<std::uint64_t, std::uint64_t> found;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (passes.of_block[block] != which) continue;
    std::uint64_t first = 0;
    if (is_kept(facts)) first = first_dimension(of, block, channels);
    if (first == 0 && is_found && scales[block]) first = facts.first;
    if (first != 0) found[first] += bytes_of(of, block);
  }
  return found;
}

std::uint32_t most_parts_of_batch(const blocks::evidence& of, const blocks::run_passes& passes,
                                  blocks::activity which) {
  if (which == blocks::activity::training && blocks::trains_on_pairs(of, passes)) return 1;
  const auto bytes = bytes_by_first_dimension(of, passes, which);
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; });
  constexpr auto any = std::uint64_t{1} << 31;
  if (most == bytes.end()) return any;
  // A part of what is known; (1, length, width) of embedded places is none, nor is a bias of all samples
  // beside the few tensors that were found.
  const std::uint64_t least_part = which == blocks::activity::training ? 10 : 2;
  std::uint64_t known = 0;
  for (const auto& [first, one] : bytes) known += one;
  const auto single = bytes.find(1);
  if (single != bytes.end() && single->second >= known / least_part) return 1;
  return static_cast<std::uint32_t>(std::min(any, std::bit_floor(most->first)));
}

}  // namespace memtrace::advice
