// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/batch_share.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/judge/advice/program_words.h"
#include "analyzer/judge/blocks/last_uses.h"
#include "analyzer/judge/blocks/passes.h"

namespace memtrace::advice {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// Sizes of the parameters of one module, with how many there are of each.
using size_counts = std::map<std::uint64_t, std::uint32_t>;

struct module_key {
  std::uint32_t root = 0;
  std::string_view path;
  [[nodiscard]] auto operator<=>(const module_key&) const = default;
};

[[nodiscard]] std::string_view module_of(std::string_view parameter) {
  const auto dot = parameter.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : parameter.substr(0, dot);
}

class parameter_shapes {
 public:
  explicit parameter_shapes(const blocks::evidence& of) : of_(of) {
    for (block_number block = 0; block < of.blocks.size(); ++block) {
      const auto& facts = of.blocks[block];
      if (facts.what != category::weights || !facts.name) continue;
      const auto bytes = bytes_of(of, block);
      ++of_module_[{facts.root.value, module_of(of.names[facts.name])}][bytes];
      ++of_root_[facts.root.value][bytes];
    }
  }

  // Tied weights have their name in one module only: where a linear layer has none of its own,
  // those of the whole model count.
  [[nodiscard]] const size_counts* of(trace::object_id module) const {
    const auto known = of_.modules.find(module);
    if (known == of_.modules.end()) return nullptr;
    const auto root = known->second.root.value;
    const auto own = of_module_.find({root, of_.names[known->second.path]});
    if (own != of_module_.end()) return &own->second;
    if (of_.names[known->second.type].find("Linear") == std::string_view::npos) return nullptr;
    const auto all = of_root_.find(root);
    return all == of_root_.end() ? nullptr : &all->second;
  }

 private:
  const blocks::evidence& of_;
  std::map<module_key, size_counts> of_module_;
  std::map<std::uint32_t, size_counts> of_root_;
};

// The blocks still to be found in the backward pass that runs, by module.
class expected {
 public:
  explicit expected(const parameter_shapes& shapes) : shapes_(shapes) {}
  void begin() { left_.clear(); }

  // Also at half the size, as autocast computes gradients, and at twice, as fp32 gradients of
  // 16-bit parameters are.
  [[nodiscard]] bool take(trace::object_id module, std::uint64_t bytes) {
    for (const auto whole : {bytes, bytes * 2, bytes / 2}) {
      if (take(module, whole, bytes)) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool take(trace::object_id module, std::uint64_t whole, std::uint64_t bytes) {
    if (whole == 0) return false;
    const auto* const sizes = shapes_.of(module);
    if (sizes == nullptr) return false;
    const auto found = sizes->find(whole);
    if (found == sizes->end()) return false;
    const auto [left, fresh] = left_.try_emplace({module.value, bytes}, found->second);
    if (left->second == 0) return false;
    --left->second;
    return true;
  }

  const parameter_shapes& shapes_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> left_;  // by module and bytes
};

[[nodiscard]] bool never_scales(const blocks::block_facts& block) {
  switch (block.what) {
    case category::weights:
    case category::buffers:
    case category::gradients:
    case category::optimizer_states:
    case category::workspace:
      return true;
    default:
      return block.cast_copy || block.born_in == phase::optimizer ||
             block.born_in == phase::zero_grad;
  }
}

// Made by the program and there for more than two steps, or to the end: a data set, a cache.
[[nodiscard]] bool outlives_steps(const blocks::block_facts& block) {
  const bool by_program = block.born_in == phase::setup || block.born_in == phase::other ||
                          block.born_in == phase::data_loading;
  if (!by_program) return false;
  if (block.free_request == blocks::never) return true;
  return block.generation != blocks::never && block.death_step > block.generation + 2;
}

}  // namespace

std::vector<bool> shaped_like_parameters(const blocks::evidence& of) {
  const parameter_shapes shapes(of);
  expected left(shapes);
  std::vector<bool> found(of.blocks.size(), false);
  bool in_backward = false;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    const bool backward = facts.born_in == phase::backward;
    if (backward && !in_backward) left.begin();
    if (backward || facts.born_in == phase::forward) in_backward = backward;
    if (!backward || facts.recomputed) continue;
    if (facts.what != category::temporaries && facts.what != category::gradients) continue;
    const bool taken = left.take(facts.module, bytes_of(of, block));
    found[block] = taken && facts.what == category::temporaries;
  }
  return found;
}

namespace {

[[nodiscard]] bool leaks(const blocks::evidence& of) {
  return std::ranges::any_of(of.findings.verdicts, [&](const verdicts::verdict& one) {
    return verdicts::is_leak(one) && one.about.kind != verdicts::subject_kind::host &&
           one.about.device == of.log.device;
  });
}

// Whether no file of the program calls backward(): what it keeps waits for none. A library's loop calls it.
[[nodiscard]] bool never_calls_backward(const blocks::evidence& of,
                                        const blocks::run_passes& passes) {
  const auto& files = of.names.sources();
  if (!passes.training.empty() || files.empty() ||
      owner_of_loop(of, passes) != loop_owner::program) {
    return false;
  }
  return std::ranges::none_of(files, [](const auto& file) {
    return file.second.text.find("backward") != std::string::npos;
  });
}

// What the program gathers, as results in a list or a sum with its graph, is as much in all however
// small a batch is: two more backward passes began while it was alive; or, where no backward pass
// tells, it outlives two turns of a loop while the memory grows.
class gathering {
 public:
  gathering(const blocks::evidence& of, const blocks::run_passes& passes)
      : of_(of), passes_(passes), leaks_(leaks(of) || never_calls_backward(of, passes)) {
    if (leaks_ || passes.evaluates) {
      turns_ = turns_of_loops(of);
      calls_ = turns_of_calls(of);
    }
    if (!passes.evaluates) return;
    find_joined();
    find_all_joined();
    const auto refused = fatal_refusal(of);
    if (refused && of.blocks[*refused].call == 0) find_made_for_several();
    // A text's logits are made of all its tokens' calls, and are a batch's: it counts where memory ran out.
    if (!refused || !for_several_.contains(*refused)) for_several_.clear();
  }

  [[nodiscard]] bool has(block_number block) const {
    const auto death = death_event(of_, block);
    if (passes_.of_block[block] == blocks::activity::training) {
      const auto pass = passes_.at(birth_event(of_, block));
      const auto later = (pass ? *pass : 0) + 2;
      if (later < passes_.training.size()) return death > passes_.training[later].backward;
      return leaks_ && outlives_turns(block, death);
    }
    if (joined_.contains(of_.blocks[block].stack) || all_joined_.contains(block) ||
        for_several_.contains(block))
      return true;
    return is_kept(block, death);
  }

 private:
  [[nodiscard]] bool outlives_turns(block_number block, std::uint64_t death) const {
    return turns_[block].over < turns_[block].next_over && turns_[block].next_over < death;
  }

  [[nodiscard]] bool is_kept(block_number block, std::uint64_t death) const {
    if (turns_.empty()) return false;
    return outlives_turns(block, death) || calls_[block].next_over < death;
  }

  // What a line makes once for several calls of a model, as the metric of a volume that it was given in
  // pieces, is in proportion to what all of them make.
  void find_made_for_several() {
    struct before {
      std::uint64_t event = 0;
      bool several = false;
    };
    std::map<trace::object_id, std::vector<std::uint64_t>> calls;  // when they begin, by model
    std::map<trace::stack_id, before> lines;
    std::uint64_t trained = 0;
    std::uint32_t latest = 0;
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto facts = of_.blocks[block];
      const auto birth = birth_event(of_, block);
      if (passes_.of_block[block] == blocks::activity::training) trained = birth;
      if (passes_.of_block[block] != blocks::activity::evaluation) continue;
      if (facts.call > latest) {
        latest = facts.call;
        calls[facts.root].push_back(birth);
      }
      if (facts.call != 0) continue;
      auto& line = lines[facts.stack];
      const auto since = std::max(trained, line.event);
      std::ptrdiff_t most = 0;
      for (const auto& [root, begins] : calls)
        most = std::max(most, begins.end() - std::ranges::upper_bound(begins, since));
      line.several = most > 1 || (most == 0 && line.several);
      line.event = birth;
      if (line.several) for_several_.insert(block);
    }
  }

  // `torch.cat(results)`, and what is computed of it: made by no call, and at least half as large as all
  // that is kept by then.
  void find_all_joined() {
    using end = std::pair<std::uint64_t, std::uint64_t>;              // event and bytes
    std::priority_queue<end, std::vector<end>, std::greater<>> ends;  // of what is kept
    std::uint64_t held = 0;
    constexpr std::size_t fewest = 4;
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      if (passes_.of_block[block] != blocks::activity::evaluation) continue;
      const auto birth = birth_event(of_, block);
      for (; !ends.empty() && ends.top().first <= birth; ends.pop()) held -= ends.top().second;
      const auto bytes = bytes_of(of_, block);
      const auto death = death_event(of_, block);
      const bool is_of_all = ends.size() >= fewest && bytes * 2 >= held;
      if (of_.blocks[block].call == 0 && is_of_all) {
        all_joined_.insert(block);
      } else if (is_kept(block, death)) {
        ends.push({death, bytes});
        held += bytes;
      }
    }
  }

  // `all = torch.cat([all, batch])`: what a line makes is one, two, three, four batches large, or begins
  // with two.
  void find_joined() {
    struct series {
      std::uint64_t batch = 0;
      std::uint64_t batches = 0;
      std::uint64_t sizes = 1;  // that were met
    };
    std::map<trace::stack_id, std::vector<series>> lines;
    constexpr std::size_t most_series = 16;  // of one line, which may join several tensors
    constexpr std::uint64_t enough = 4;
    for (block_number block = 0; block < of_.blocks.size(); ++block) {
      const auto facts = of_.blocks[block];
      if (passes_.of_block[block] != blocks::activity::evaluation || facts.call != 0) continue;
      const auto bytes = bytes_of(of_, block);
      auto& known = lines[facts.stack];
      bool fits = false;
      for (auto& one : known) {
        const bool grows = bytes == one.batch * (one.batches + 1);
        fits = fits || grows || bytes == one.batch * one.batches;
        if (!grows) continue;
        ++one.batches;
        if (++one.sizes == enough) joined_.insert(facts.stack);
      }
      if (fits || known.size() >= most_series) continue;
      known.push_back({bytes, 1});
      if (bytes % 2 == 0) known.push_back({bytes / 2, 2});
    }
  }

  const blocks::evidence& of_;
  const blocks::run_passes& passes_;
  std::vector<blocks::loop_turns> turns_;
  std::vector<blocks::loop_turns> calls_;
  std::set<trace::stack_id> joined_;  // lines
  std::set<block_number> all_joined_;
  std::set<block_number> for_several_;
  bool leaks_;
};

// Whether these blocks have most of what was allocated when memory ran out.
template <class Which>
[[nodiscard]] bool is_mostly(const blocks::evidence& of, block_number refused, Which which) {
  std::uint64_t all = 0;
  std::uint64_t some = 0;
  if (of.log.allocations[refused] == 0) return false;
  for (const auto block : alive_after(of, of.log.allocations[refused] - 1)) {
    all += bytes_of(of, block);
    if (which(block)) some += bytes_of(of, block);
  }
  return some > all / 2;
}

}  // namespace

std::vector<bool> scales_with_batch(const blocks::evidence& of, const blocks::run_passes& passes,
                                    blocks::activity which) {
  const auto like_parameters = shaped_like_parameters(of);
  const gathering gathered(of, passes);
  std::vector<bool> scales(of.blocks.size(), false);
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (passes.of_block[block] != which || never_scales(facts)) continue;
    scales[block] = !like_parameters[block] && !outlives_steps(facts) && !gathered.has(block);
  }
  const auto refused = fatal_refusal(of);
  // With a smaller batch the program gathers the same, and gets to the same place later.
  if (refused && is_mostly(of, *refused, [&](block_number one) { return gathered.has(one); }))
    return std::vector<bool>(of.blocks.size(), false);
  return scales;
}

using allocator::block_number;
using attribution::category;
using attribution::phase;

bool works_on_sequences(const blocks::evidence& of) {
  // Classes of PyTorch's. The input of these has places, of words or of times; what a model keeps of
  // images has no length.
  constexpr std::array<std::string_view, 4> sequential = {"Embedding", "LSTM", "GRU", "RNN"};
  const auto has_any = [&](const auto& kinds) {
    return std::ranges::any_of(of.modules, [&](const auto& module) {
      return std::ranges::find(kinds, of.names[module.second.type]) != kinds.end();
    });
  };
  return has_any(sequential) && !has_any(std::array<std::string_view, 1>{"Conv2d"});
}

std::vector<bool> grows_quadratically(const blocks::evidence& of) {
  std::vector<bool> found(of.blocks.size(), false);
  std::set<std::pair<trace::object_id, std::uint64_t>> scores;  // module and bytes
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (!facts.attention_scores) continue;
    found[block] = true;
    scores.insert({facts.module, bytes_of(of, block)});
  }
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    const bool scratch = facts.what == category::temporaries &&
                         (facts.born_in == phase::forward || facts.born_in == phase::backward ||
                          facts.born_in == phase::evaluation);
    if (scratch && scores.contains({facts.module, bytes_of(of, block)})) found[block] = true;
  }
  return found;
}

}  // namespace memtrace::advice
